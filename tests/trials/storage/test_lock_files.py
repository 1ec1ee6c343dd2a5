"""Locks of other users, beside a journal that both may write."""

import errno
import os
from pathlib import Path

import pytest

import robustbo as rb
from robustbo.errors import JournalError, JournalWriteError
from robustbo.foreign.reading import open_no_link
from robustbo.trials.storage import lock_files
from tests.trials.forged import command as run_command
from tests.trials.storage.rows import optimizer

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")

PLACES = ["lab.jsonl", "sqlite:///lab.db"]
RIGHTS = {os.O_RDONLY: 0o4, os.O_WRONLY: 0o2, os.O_RDWR: 0o6}


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A folder where we have the rights of others, root too."""

    def opened(path, flags):
        rights = RIGHTS[flags & os.O_ACCMODE]
        mode = os.stat(path if os.path.exists(path) else tmp_path).st_mode
        if mode & rights != rights:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return open_no_link(path, flags)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lock_files, "open_no_link", opened)
    tmp_path.chmod(0o777)
    return tmp_path


def begun(place):
    """A study with one trial pending, and its lock."""
    optimizer(place).ask()
    (lock,) = Path().glob(".*.lock")
    return lock


@pytest.mark.parametrize("place", PLACES)
def test_a_lock_that_cannot_be_read_is_named_with_its_owner_whatever_is_done(shared, place):
    lock = begun(place)
    lock.chmod(0)
    why = f"{lock}: is a lock, and must be readable for everybody who uses the journal; it belongs to {lock.owner()}, "
    for command in (("ask", place), ("tell", place, "0", "1.0"), ("requeue", place, "0")):
        code, _, err = run_command(*command)
        assert (code, err.count("\n")) == (2, 1)
        assert f"{why}----------; its owner can mend that (chmod a+rw)" in err
    code, out, _ = run_command("show", place)  # to look needs no lock
    assert (code, "1 pending" in out) == (0, True)
    lock.unlink()
    opt = rb.Optimizer.resume(place)
    assert (opt.ask().number, opt.tell(0, 1.0).value) == (1, 1.0)


@pytest.mark.parametrize("place", PLACES)
def test_so_it_is_where_it_becomes_so_later(shared, place):
    opt = optimizer(place)
    opt.ask()
    (lock,) = Path().glob(".*.lock")
    lock.chmod(0)
    with pytest.raises(JournalError, match=r"lock: is a lock, and must be readable"):
        opt.ask()


@pytest.mark.parametrize("place", PLACES)
def test_a_lock_that_can_only_be_read_is_locked(shared, place):
    begun(place).chmod(0o444)
    assert rb.Optimizer.resume(place).ask().number == 1


def test_a_lock_that_cannot_be_made_is_named_and_not_the_journal(shared):
    lock = begun("lab.jsonl")
    lock.unlink()
    shared.chmod(0o555)
    opt = rb.Optimizer.resume("lab.jsonl")
    assert opt.tell(0, 1.0).value == 1.0
    why = rf"{lock}: must be made beside the journal.*Permission denied \(belongs to {shared.owner()}, dr-xr-xr-x\)"
    with pytest.raises(JournalWriteError, match=why):
        opt.ask()
