"""A file layer that fails: each call that a journal makes to the system, counted, and one of them broken.

SQLite is tested so: every call of every operation fails once, in every way, and nothing may be lost by it.
"""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from robustbo.trials.storage import disk, turnstile

METHODS = ("read", "write", "seek", "truncate", "close", "__init__")  # of an open file
OF_OS = ("fstat", "fsync", "link", "open", "close")
OF_PATHS = ("stat", "unlink", "mkdir")


class Calls:
    """The calls to the system; the one number ``at`` goes to ``fault`` in the place of the system.

    Attributes:
        names: What was called, in order.
    """

    def __init__(self, at=None, fault=None, *, lasts=False):
        self.names, self._at, self._fault, self._lasts, self._is_inside = [], at, fault, lasts, False

    def around(self, name, real):
        """A function that counts calls of another."""

        def called(*args, **kwargs):
            if self._is_inside:  # what a fault itself does, and what one call makes of others
                return real(*args, **kwargs)
            self.names.append(name)
            is_broken = self._at is not None and (
                len(self.names) >= self._at if self._lasts else len(self.names) == self._at
            )
            if name == "__init__" and not is_broken:  # opens, then locks by other calls
                return real(*args, **kwargs)
            self._is_inside = True
            try:
                return (self._fault if is_broken else _done)(name, real, args, kwargs)
            finally:
                self._is_inside = False

        return called

    @contextmanager
    def watched(self):
        """Count, and break, what is called in the block."""
        with pytest.MonkeyPatch.context() as patch:
            for name in METHODS:
                patch.setattr(disk.Locked, name, self.around(name, getattr(disk.Locked, name)))
            for name in OF_OS:
                patch.setattr(os, name, self.around(name, getattr(os, name)))
            for name in OF_PATHS:
                patch.setattr(Path, name, self.around(name, getattr(Path, name)))
            patch.setattr(turnstile.fcntl, "flock", self.around("flock", turnstile.fcntl.flock))
            yield


KEPT = []


def kept(error):
    """An error that somebody keeps, as notebooks do, with all that the calls in its traceback hold."""
    KEPT.append(error)
    return error


def _done(name, real, args, kwargs):
    return real(*args, **kwargs)


def _half(args, real):
    """Write the first half of what is to be written."""
    file, data = args
    return real(file, bytes(data)[: len(data) // 2])


def before(error):
    """It fails, and nothing has happened."""

    def fault(name, real, args, kwargs):
        if name == "close":  # has nothing to say of what has been synced, and closes whatever it says
            real(*args, **kwargs)
            if error is not KeyboardInterrupt:
                return
        raise kept(error())

    return fault


def after(error):
    """It fails, and yet it has happened."""

    def fault(name, real, args, kwargs):
        done = real(*args, **kwargs)
        if name == "__init__" or (name == "close" and error is not KeyboardInterrupt):  # opened is opened
            return done
        raise kept(error())

    return fault


def half_way(error):
    """A half of it has happened, where that can be."""

    def fault(name, real, args, kwargs):
        if name == "write":
            _half(args, real)
        elif name == "close":
            real(*args, **kwargs)
            if error is not KeyboardInterrupt:
                return
        raise kept(error())

    return fault


def short(name, real, args, kwargs):
    """A half is written, and it says so."""
    return _half(args, real) if name == "write" else _done(name, real, args, kwargs)


def meanwhile(act):
    """Something else happens first."""

    def fault(name, real, args, kwargs):
        act()
        return real(*args, **kwargs)

    return fault


def dead_before(*_):
    """The process is killed."""
    os._exit(9)


def dead_after(name, real, args, kwargs):
    """The process is killed when it has happened."""
    real(*args, **kwargs)
    os._exit(9)


def dead_half_way(name, real, args, kwargs):
    """The process is killed in the middle of it."""
    if name == "write":
        _half(args, real)
    os._exit(9)


def system(number):
    """Errors of the system's."""
    return lambda: OSError(number, os.strerror(number))


ERRORS = {
    "full disk": half_way(system(errno.ENOSPC)),
    "broken disk": before(system(errno.EIO)),
    "broken disk, when it has happened": after(system(errno.EIO)),
    "read-only": before(system(errno.EROFS)),
    "short write": short,
}
LASTING = "full disk", "broken disk", "broken disk, when it has happened", "read-only"
INTERRUPTS = {
    "interrupt": before(KeyboardInterrupt),
    "interrupt, when it has happened": after(KeyboardInterrupt),
    "interrupt, half way": half_way(KeyboardInterrupt),
}
DEATHS = {"kill": dead_before, "kill, when it has happened": dead_after, "kill, half way": dead_half_way}
