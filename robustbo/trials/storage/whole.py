"""A file made, or put in place of another, as a whole or not at all.

It is written beside and renamed over the name, so that nobody ever sees a part, and a link of that name, which may be
somebody else's, is replaced and not followed.
"""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from robustbo.trials.storage import disk
from robustbo.trials.storage.lock_files import lock_beside, lock_file


def create(path: Path, data: bytes) -> None:
    """A new file, there as a whole or not at all.

    Raises:
        FileExistsError: If there is one.
        NotADirectoryError: If a file stands where its folder would be.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, error.strerror, error.filename) from None
    new = temporary_path(path)
    try:
        with disk.Locked(new, "xb", 0.0) as file:
            disk.write_at(file, 0, data)
        try:
            os.link(new, path)
        except FileExistsError:
            if not path.exists():
                raise OSError(None, f"it is a link to a missing file, {os.readlink(path)}") from None
            raise
        except OSError:  # a file system without links
            with lock_file(lock_beside(path), disk.TIMEOUT_S):
                if path.exists():
                    raise FileExistsError(path) from None
                new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    sync_folder(path.parent)


def replace(path: Path, data: bytes, is_wanted: Callable[[], bool] = lambda: True) -> bool:
    """Put data in place of a file, with the rights that it had, or of nothing.

    Args:
        path: The file.
        data: What is to be in it.
        is_wanted: Asked last, when all is written but the name.

    Returns:
        Whether it was wanted.

    Raises:
        OSError: If it cannot be written; all is as it was then.
    """
    new = temporary_path(path)
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
        sync_folder(path.parent)
    return True


def replace_text(path: Path, text: str) -> None:
    """Replace a file's contents by a text; what UTF-8 cannot have is written out."""
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


def temporary_path(path: Path) -> Path:
    """The name of a file that is to be, while it is written."""
    return path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns():x}.new")


def sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut too (where folders can be synced: not on Windows)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
