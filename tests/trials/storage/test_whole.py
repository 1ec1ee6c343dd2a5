"""Files are written as a whole or not at all, and nothing of somebody else's is written through a link."""

import errno
import os
import stat
from types import SimpleNamespace

import pytest

from robustbo.errors import JournalError
from robustbo.replay.execute import work
from robustbo.replay.output import report
from robustbo.report.charts import matplotlib_canvas
from robustbo.trials.storage import lock_files, whole
from tests.trials.forged import command as run_command
from tests.trials.storage.rows import optimizer

pytestmark = pytest.mark.skipif(os.name != "posix", reason="making a link needs rights on Windows")
SPEC = """
problem = "branin"
replications = 1
methods = ["sobol"]
trials = 3
num_initial = 2
"""


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "elsewhere" / "victim"
    path.parent.mkdir()
    path.write_text("mine\n")
    path.chmod(0o600)
    yield path
    assert path.read_text() == "mine\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*path.parent.iterdir()] == [path]


def linked(path, victim):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(victim)
    return path


def test_a_link_is_replaced_and_not_followed(tmp_path, victim):
    path = linked(tmp_path / "page.html", victim)
    assert whole.replace(path, b"new")
    assert not path.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0o644 & ~os_umask() & 0o077


def os_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_file_keeps_its_rights(tmp_path, mode):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(mode)
    assert whole.replace(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was(tmp_path, failure, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def failing(handle):
        raise failure

    monkeypatch.setattr(whole, "os", SimpleNamespace(**{**vars(os), "fsync": failing}))
    with pytest.raises(type(failure)):
        whole.replace(path, b"new")
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "old"


@pytest.mark.few(2)
@pytest.mark.parametrize("suffix", [".html", ".png", ".svg"])
@pytest.mark.parametrize("command", ["show", "report"])
def test_pages_and_pictures_do_not_follow_links(tmp_path, victim, command, suffix, monkeypatch):
    if suffix != ".html" and matplotlib_canvas.plt is None:
        pytest.skip("pictures need matplotlib")
    monkeypatch.chdir(tmp_path)
    optimizer("lab.jsonl").tell({"x": 0.5}, 1.0)
    path = linked(tmp_path / f"lab{suffix}", victim)
    code, out, err = run_command(command, "lab.jsonl", "--out", path.name)
    assert (code, out) == (0, f"{path.name}\n"), err
    assert not path.is_symlink()


def test_a_replay_does_not_follow_links(tmp_path, victim, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SPEC)
    names = [report.ROWS, report.SUMMARY, report.PICTURE, work.TIMINGS]
    paths = [linked(tmp_path / "out" / name, victim) for name in names]
    code, _, err = run_command("replay", "small.toml", "--out", "out")
    assert code == 0, err
    assert [
        path.name for path in paths if path.is_symlink() and (path.name != report.PICTURE or matplotlib_canvas.plt)
    ] == []
    code, _, err = run_command("replay", "small.toml", "--out", "out", "--trials", "4")  # the times of both are kept
    assert len((tmp_path / "out" / work.TIMINGS).read_text().splitlines()) == 3, err


@pytest.mark.parametrize("place", ["lab.jsonl", "sqlite:///lab.db"])
def test_a_linked_lock_is_not_opened(tmp_path, place, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opt = optimizer(place)
    opt.ask()
    (lock,) = tmp_path.glob(".*.lock")
    lock.unlink()
    lock.symlink_to(tmp_path / "nothing")
    with pytest.raises(JournalError, match=r"lock: must be a file that is locked, is a link; delete it"):
        opt.ask()
    assert not (tmp_path / "nothing").exists()
    lock.unlink()
    assert opt.ask().number == 1


def test_a_pipe_in_the_place_of_a_lock_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(JournalError, match=r"lock: must be a file that is locked, is a pipe; delete it"):
        lock_files.lock_file(tmp_path / "lock", 1.0)
