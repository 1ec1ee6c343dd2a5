"""A queue at a file's lock: those who wait for it have it in the order in which they came.

Whoever lets go of a lock and wants it again at once wins against all who look now and then whether it is free. So a
second file beside it is the turnstile: who waits keeps that one locked until he has the lock, and who comes back queues
behind him. It is made by the first who has to wait, and is empty.

The system itself wakes those who wait for the turnstile, on Linux in their order. A thread waits there, since a call
must end when its time is up. Where the system does not wait, or is slow to notice (Windows, network file systems), the
turnstile is looked at now and then, and whose turn it is there is chance.
"""

import io
import os
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from robustbo.foreign.reading import open_no_link

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FAR = 2**40  # Windows locks bytes, which are then unreadable for others: one far beyond the end of any journal
FIRST_WAIT_S, LONGEST_WAIT_S = 0.0005, 0.02
WAITS = 10  # a lock is looked at again after this part of the time that has been waited


class Unshared(io.FileIO):
    """An open file, unbuffered, that a forked child closes: it would keep the locks of its parent's threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        OPEN.add(self)

    __del__ = io.FileIO.close  # without a warning


OPEN: "weakref.WeakSet[Unshared]" = weakref.WeakSet()


def _close_after_fork() -> None:
    for file in list(OPEN):
        with suppress(OSError):
            file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)


def try_lock(file: io.FileIO) -> bool:
    """Lock an open file, unless somebody else has; whether that is done."""
    try:
        if sys.platform == "win32":
            file.seek(FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def turnstile_of(path: Path) -> Path:
    """The file beside one, by which those who wait for its lock are ordered.

    Example:
        >>> print(turnstile_of(Path("runs/lab.jsonl")))
        runs/.lab.jsonl.queue
    """
    return path.with_name(f".{path.name.removeprefix('.')}.queue")


class PlaceInLine:
    """A place in the line before a file's lock; a context, whose end gives it up.

    What an interrupt keeps from being given up is free when nothing refers to the place any more.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = turnstile_of(path)
        self._start_s = time.monotonic()
        self._file: Unshared | None = None
        self._is_first: bool | None = None  # None: it has not been looked at
        self._caller: tuple[threading.Event, list[Unshared]] | None = None

    def __enter__(self) -> "PlaceInLine":
        return self

    def __exit__(self, *_: object) -> None:
        files = [self._file, *(self._caller[1] if self._caller else ())]
        self._file = self._caller = None
        for file in files:
            if file is not None:
                file.close()

    @property
    def time_in_line_s(self) -> float:
        """The time spent waiting, in seconds."""
        return time.monotonic() - self._start_s

    def is_first(self) -> bool:
        """Return whether nobody waits before us; there may be no line, as in a folder that must not be written to."""
        if self._is_first is None:
            self._file = _open(self._path, 0)
        self._is_first = self._is_first or self._file is None or _is_taken(self._file)
        return self._is_first

    def wait(self) -> None:
        """Wait for a moment, or until we are first."""
        wait_s = min(LONGEST_WAIT_S, max(FIRST_WAIT_S, self.time_in_line_s / WAITS))
        if self._file is None and (file := _open(self._path, os.O_CREAT)) is not None:
            self._file, self._is_first = file, _is_taken(file)
        if self._is_first:
            time.sleep(wait_s)
            return
        if self._caller is None:
            self._caller = threading.Event(), []
            with suppress(RuntimeError):  # where no thread can be started any more, we look now and then
                threading.Thread(target=_queue, args=(self._path, *self._caller), daemon=True).start()
        self._is_first = self._caller[0].wait(wait_s)


def _open(path: Path, flags: int) -> Unshared | None:
    """The turnstile; None where there is none, or must not be."""
    for mode, more in (("r+b", flags), ("rb", 0)):  # another user's can be locked, too
        with suppress(OSError):
            return Unshared(path, mode, opener=lambda name, access, more=more: open_no_link(name, access | more))
    return None


def _is_taken(file: Unshared) -> bool:
    try:
        return try_lock(file)
    except OSError:  # a file system that has no locks for it: there is no line
        return True


def _queue(path: Path, is_first: threading.Event, files: list[Unshared]) -> None:
    """Wait for a turnstile as long as it takes, and leave it locked in a list; who gives up lets go of the list."""
    if sys.platform == "win32" or (file := _open(path, 0)) is None:
        return
    with suppress(OSError):
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        files.append(file)
        is_first.set()
