"""The few calls to the operating system that a journal makes, each in one place, and the lock on a file.

A lock belongs to an open file and ends with it, whatever ends the process or interrupts the call: nothing has to be
cleaned up. It works between threads, between processes and, where the network's file system passes locks on (NFS 4
and SMB do), between machines. Who waits gets it in his turn (`trials.storage.turnstile`).
"""

import io
import os
import re
from collections.abc import Callable
from pathlib import Path

from robustbo.errors import JournalWarning, LockTimeout, warn
from robustbo.foreign.reading import Opener, open_regular
from robustbo.trials.storage.turnstile import PlaceInLine, Unshared, try_lock

TIMEOUT_S = 30.0  # for a lock that is held for milliseconds
ANOTHER = "another process"
PATIENCE_S = 5.0  # before it is said for whom we wait


class Locked(Unshared):
    """A file, unbuffered, that is locked against all others who lock it until it is closed.

    It is its own context, which is left by closing it, in one step that no interrupt can come between. One that an
    interrupt keeps from being left is closed, in one step too and without a warning, when nothing refers to it.

    Args:
        path: The file.
        mode: As for `open`.
        timeout_s: How long to wait for others.
        opener: As for `open`.

    Raises:
        LockTimeout: If somebody else has it locked for longer; the message says who, where that is known.
    """

    def __init__(self, path: Path, mode: str, timeout_s: float, opener: Opener = open_regular) -> None:
        try:
            super().__init__(path, mode, opener=opener)
            lock(self, path, timeout_s)
        except BaseException:  # somebody may keep the error, as notebooks do, and all that its calls hold
            self.close()
            raise


class NotTakenBackError(OSError):
    """A write that failed as a whole may be there all the same."""


def lock(file: io.FileIO, path: Path, timeout_s: float) -> None:
    """Lock an open file; see `Locked`."""
    wait_in_line(path, path, lambda: try_lock(file), lambda: holder(file), timeout_s)


def wait_in_line(
    path: Path, name: object, is_locked: Callable[[], bool], find_holder: Callable[[], str], timeout_s: float
) -> None:
    """Wait until it is our turn and the lock is free.

    Args:
        path: The file that is to be locked.
        name: What it is called in messages.
        is_locked: Tries to lock it, and says whether that is done.
        find_holder: Says who has it.
        timeout_s: For how long.

    Raises:
        LockTimeout: If that is over.
    """
    is_warned = False
    with PlaceInLine(path) as place:
        while not (place.is_first() and is_locked()):
            if place.time_in_line_s > timeout_s:
                raise LockTimeout(
                    f"{name}: {find_holder()} has had it locked for more than {timeout_s:g} s; nothing was recorded; "
                    "end that process if it hangs, and try again"
                )
            if place.time_in_line_s > PATIENCE_S and not is_warned:
                is_warned = True
                warn_of_lock(name, find_holder(), timeout_s)
            place.wait()


def warn_of_lock(name: object, holder_name: str, timeout_s: float) -> None:
    """Say for whom we wait, and for how long at most."""
    message = (
        f"{name}: {holder_name} has it locked; waiting for it, {timeout_s:g} s at most; end that process if it hangs"
    )
    warn(message, JournalWarning)


def holder(file: io.FileIO) -> str:
    """The process that has a file locked, where the system says so (Linux)."""
    try:
        inode, table = os.fstat(file.fileno()).st_ino, Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return ANOTHER
    match = re.search(rf"FLOCK +ADVISORY +WRITE (\d+) \S+:{inode} ", table)
    return f"process {match[1]}" if match else ANOTHER


def is_at(file: io.FileIO, path: Path) -> bool:
    """Return whether an open file is still the one of that name: not deleted, nor replaced by another.

    Raises:
        FileNotFoundError: If there is none of that name any more.
    """
    return os.path.samestat(os.fstat(file.fileno()), path.stat())


def size(file: io.FileIO) -> int:
    """Size in bytes."""
    return os.fstat(file.fileno()).st_size


def stamp(file: io.FileIO) -> int | None:
    """The time of the last change, in nanoseconds; None where the system does not say."""
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
