"""The few calls to the operating system that a journal makes, each in one place, and the lock on a file.

A lock belongs to an open file and ends with it, whatever ends the process or interrupts the call: nothing has to be
cleaned up. It works between threads, between processes and, where the network's file system passes locks on (NFS 4
and SMB do), between machines.
"""

import io
import os
import re
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path

from robustbo.errors import JournalWarning, LockTimeout, warn
from robustbo.foreign.reading import open_regular

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FAR = 2**40  # Windows locks bytes, which are then unreadable for others: one far beyond the end of any journal
FIRST_WAIT_S, LONGEST_WAIT_S = 0.0005, 0.02
TIMEOUT_S = 30.0  # for a lock that is held for milliseconds
ANOTHER = "another process"
PATIENCE_S = 5.0  # before it is said for whom we wait


class Locked(io.FileIO):
    """A file, unbuffered, that is locked against all others who lock it until it is closed.

    It is its own context, which is left by closing it, in one step that no interrupt can come between. One that an
    interrupt keeps from being left is closed, in one step too and without a warning, when nothing refers to it.

    Args:
        path: The file.
        mode: As for `open`.
        timeout_s: How long to wait for others.

    Raises:
        LockTimeout: If somebody else has it locked for longer; the message says who, where that is known.
    """

    def __init__(self, path: Path, mode: str, timeout_s: float) -> None:
        try:
            super().__init__(path, mode, opener=open_regular)
            LOCKED.add(self)
            lock(self, path, timeout_s)
        except BaseException:  # somebody may keep the error, as notebooks do, and all that its calls hold
            self.close()
            raise

    __del__ = io.FileIO.close


LOCKED: "weakref.WeakSet[Locked]" = weakref.WeakSet()


def _close_after_fork() -> None:
    """A child has the open files of its parent's threads too, and would keep them locked."""
    for file in list(LOCKED):
        with suppress(OSError):
            file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)


class NotTakenBackError(OSError):
    """What could not be written as a whole may be there all the same."""


def lock(file: io.FileIO, path: Path, timeout_s: float) -> None:
    """Lock an open file; see `Locked`."""
    begun, wait, is_said = time.monotonic(), FIRST_WAIT_S, False
    while not _try_lock(file):
        waited = time.monotonic() - begun
        if waited > timeout_s:
            raise LockTimeout(
                f"{path}: {holder(file)} has had it locked for more than {timeout_s:g} s; nothing was recorded; end "
                "that process if it hangs, and try again"
            )
        if waited > PATIENCE_S and not is_said:
            is_said = True
            warn_of_waiting(path, holder(file), timeout_s)
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT_S)


def warn_of_waiting(what: object, who: str, timeout_s: float) -> None:
    """Say for whom we wait, and for how long at most."""
    said = f"{what}: {who} has it locked; waiting for it, {timeout_s:g} s at most; end that process if it hangs"
    warn(said, JournalWarning)


def _try_lock(file: io.FileIO) -> bool:
    try:
        if sys.platform == "win32":
            file.seek(FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def holder(file: io.FileIO) -> str:
    """Which process has a file locked, where the system says so (Linux)."""
    try:
        inode, table = os.fstat(file.fileno()).st_ino, Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return ANOTHER
    found = re.search(rf"FLOCK +ADVISORY +WRITE (\d+) \S+:{inode} ", table)
    return f"process {found[1]}" if found else ANOTHER


def is_at(file: io.FileIO, path: Path) -> bool:
    """Whether an open file is still the one of that name: not deleted, nor replaced by another.

    Raises:
        FileNotFoundError: If there is none of that name any more.
    """
    return os.path.samestat(os.fstat(file.fileno()), path.stat())


def size(file: io.FileIO) -> int:
    """Its bytes."""
    return os.fstat(file.fileno()).st_size


def stamp(file: io.FileIO) -> int | None:
    """When it was last changed, in nanoseconds; None where the system does not say."""
    try:
        return os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return None


def read_from(file: io.FileIO, start: int) -> bytes:
    """All from a byte on."""
    file.seek(start)
    parts = []
    while part := file.read():
        parts.append(part)
    return b"".join(parts)


def write_at(file: io.FileIO, start: int, data: bytes) -> None:
    """Make data the end of a file; on the disk when this returns, and not in the file at all if it fails."""
    try:
        if size(file) != start:
            file.truncate(start)
        file.seek(start)
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except BaseException as error:  # leave nothing of it behind, of an interrupted call either
        try:
            file.truncate(start)
        except OSError as more:
            raise NotTakenBackError(*more.args) from error
        raise


def beside(path: Path) -> Path:
    """The file beside a journal that is locked for what its own lock is not for."""
    return path.with_name(f".{path.name}.lock")


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
    new = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns():x}.new")
    try:
        with Locked(new, "xb", 0.0) as file:
            write_at(file, 0, data)
        try:
            os.link(new, path)
        except FileExistsError:
            if not path.exists():
                raise OSError(None, f"it is a link to what is not there, {os.readlink(path)}") from None
            raise
        except OSError:  # a file system without links
            with Locked(beside(path), "ab", TIMEOUT_S):
                if path.exists():
                    raise FileExistsError(path) from None
                new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut too (where folders can be synced: not on Windows)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
