"""A sheet on the disk: read as it is, and replaced as a whole or not at all, only where nobody else is at it."""

import os
from pathlib import Path

from robustbo import limits
from robustbo.errors import SheetError
from robustbo.foreign.reading import bytes_of, open_no_link
from robustbo.trials.storage import whole

SIGNS = (".~lock.{}#", "~${}")  # what LibreOffice and Excel put beside a file that is open there


def read(path: Path) -> bytes | None:
    """Read a sheet's bytes; None where there is no file.

    Raises:
        SheetError: If it is no file of its own, or cannot be read.
    """
    if path.is_symlink():
        advice = f"name the file itself: {path.resolve()}"
        raise SheetError(f"{path}: must be a file, and is a link, which robustbo does not follow; {advice}")
    try:
        return bytes_of(path, limits.TABLE_BYTES, SheetError, opener=open_no_link)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise SheetError(f"{path}: must be in a folder, and is below a file; name another place") from None


def check_free(path: Path) -> None:
    """Raise a `SheetError` where it is open in a spreadsheet program, or its folder does not let it be replaced."""
    for sign in SIGNS:
        if os.path.lexists(beside := path.with_name(sign.format(path.name))):
            must = "must be closed in the spreadsheet program, which would not see what is added"
            raise SheetError(f"{path}: {must}; if no program has it open, delete {beside.name!r} beside it")
    if not path.parent.is_dir():
        raise SheetError(f"{path}: must be in an existing folder; make {str(path.parent)!r} first")
    if not os.access(path.parent, os.W_OK):
        raise SheetError(f"{path}: its folder must be writable for you; move the sheet")
    if path.exists() and not os.access(path, os.W_OK):
        raise SheetError(f"{path}: must not be read-only, because robustbo adds rows to it")


def replace(path: Path, before: bytes | None, after: bytes) -> bool:
    """Write it anew, with the rights it had; False, and nothing is done, where it is not as it was any more.

    Args:
        path: The file.
        before: What was in it; None where there was none.
        after: What is to be.

    Raises:
        SheetError: If it cannot be written; it is as it was then.
    """
    try:
        if before is None:
            return _create(path, after)
        if not path.exists():
            return False
        return whole.replace(path, after, lambda: read(path) == before)
    except OSError as error:
        advice = "close it elsewhere, or make room"
        raise SheetError(f"{path}: cannot be written, and is as it was: {error.strerror}; {advice}") from error


def _create(path: Path, data: bytes) -> bool:
    try:
        whole.create(path, data)
    except FileExistsError:
        return False
    return True
