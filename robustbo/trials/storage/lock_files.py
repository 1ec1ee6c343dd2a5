"""The file beside a journal that is locked while somebody decides on a next point: whose it is, and who may lock it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import filemode

from robustbo.errors import JournalError, JournalWriteError
from robustbo.foreign.reading import NotRegularError, open_no_link
from robustbo.trials.storage.disk import Locked


def lock_beside(path: Path) -> Path:
    """The file beside a journal that is locked for what its own lock is not for."""
    return path.with_name(f".{path.name}.lock")


def lock_file(path: Path, timeout_s: float) -> Locked:
    """A file locked that is there for that alone; whatever else has its name is left alone.

    Another user's can be locked, too, where it can be read.

    Raises:
        JournalError: If it cannot be locked or made, or is no file; the message has its owner.
        FileNotFoundError: If there is no such folder.
        LockTimeout: If somebody else has it locked for longer.
    """
    with _of_lock(path):
        try:
            return Locked(path, "ab", timeout_s, open_no_link)
        except PermissionError:
            if not path.exists():
                raise
            return Locked(path, "rb", timeout_s, open_no_link)


def check_lock(path: Path) -> None:
    """Raise as `lock_file` where there is one that cannot be locked, before anything is done that needs it later."""
    if os.path.lexists(path):
        with _of_lock(path), open(path, "rb", opener=open_no_link):
            pass


@contextmanager
def _of_lock(path: Path) -> Iterator[None]:
    """Say of a lock that cannot be had that it is the lock, whose it is, and what to do."""
    try:
        yield
    except (JournalError, FileNotFoundError):
        raise
    except NotRegularError as error:
        must = f"must be a file that is locked, {(error.strerror or '').rpartition(', ')[2]}"
        raise JournalError(f"{path}: {must}; delete it") from None
    except PermissionError as error:
        if not path.exists():
            must = "must be made beside the journal, to be locked by who decides on next points"
            advice = "ask for the right to write to that folder"
            raise JournalWriteError(f"{path}: {must}: {error.strerror} ({_ownership(path.parent)}); {advice}") from None
        must = "is a lock, and must be readable for everybody who uses the journal"
        advice = "its owner can mend that (chmod a+rw), or delete it while nobody uses the journal"
        raise JournalError(f"{path}: {must}; it {_ownership(path)}; {advice}") from None
    except OSError as error:
        raise JournalWriteError(f"{path}: cannot be locked: {error.strerror}; nothing was recorded") from error


def _ownership(path: Path) -> str:
    """The owner and the permissions of a file."""
    state = path.lstat()
    try:
        owner = path.owner()
    except (KeyError, NotImplementedError):  # an account that this machine does not know; Windows
        owner = f"user {state.st_uid}"
    return f"belongs to {owner}, {filemode(state.st_mode)}"
