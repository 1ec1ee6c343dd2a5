"""A file put in the place of another as a whole or not at all.

It is written beside and renamed over the name, so that nobody ever sees a part, and a link of that name, which may be
somebody else's, is replaced and not followed.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from robustbo.trials.storage import disk


def replace(path: Path, data: bytes, is_wanted: Callable[[], bool] = lambda: True) -> bool:
    """Put data in the place of a file, with the rights that it had, or of nothing.

    Args:
        path: The file.
        data: What is to be in it.
        is_wanted: Asked last, when all is written but the name.

    Returns:
        Whether it was wanted.

    Raises:
        OSError: If it cannot be written; all is as it was then.
    """
    new = disk.unfinished(path)
    try:
        with open(new, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _like_before(new, path)
        if not is_wanted():
            return False
        new.replace(path)
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)
    with suppress(OSError):  # it is there already
        disk.sync_folder(path.parent)
    return True


def replace_text(path: Path, text: str) -> None:
    """The same with text; what UTF-8 cannot have is written out."""
    replace(path, text.encode("utf-8", errors="backslashreplace"))


def _like_before(new: Path, path: Path) -> None:
    """Give a new file the rights of the one whose place it takes, if that is a file."""
    try:
        before = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(before.st_mode):
        return
    new.chmod(stat.S_IMODE(before.st_mode))
    with suppress(OSError, AttributeError):  # a folder that several share
        os.chown(new, -1, before.st_gid)
