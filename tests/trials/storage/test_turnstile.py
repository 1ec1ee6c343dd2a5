import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import robustbo as rb
from robustbo.errors import LockTimeout
from robustbo.trials.storage import disk, turnstile
from robustbo.trials.storage.turnstile import PlaceInLine, try_lock, turnstile_of

SHORT_S, LONG_S = 0.05, 60.0
WAIT = """
import sys
from pathlib import Path
from robustbo.trials.storage import disk
disk.Locked(Path(sys.argv[1]), "r+b", 60.0)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "lab.jsonl"
    path.touch()
    return path


def locked(path, timeout_s=LONG_S):
    return disk.Locked(path, "r+b", timeout_s)


def wait_for_a_line(path):
    """Return once somebody waits at the turnstile."""
    while True:
        if turnstile_of(path).exists():
            with turnstile.Unshared(turnstile_of(path), "r+b") as file:
                if not try_lock(file):
                    return
        threading.Event().wait(0.001)


@contextmanager
def waiting(path, then):
    """A thread that waits for the lock, and does something while it has it."""

    def wait():
        with locked(path):
            then()

    thread = threading.Thread(target=wait)
    thread.start()
    wait_for_a_line(path)
    yield
    thread.join()


def test_who_comes_back_queues_behind_who_waits(path):
    order = []
    with locked(path) as file, waiting(path, lambda: order.append("who waited")):
        file.close()
        with locked(path):
            order.append("who came back")
    assert order == ["who waited", "who came back"]


def test_without_anybody_who_waits_there_is_no_file(path):
    for _ in range(2):
        with locked(path):
            pass
    assert list(path.parent.iterdir()) == [path]


def test_who_gives_up_leaves_the_line(path):
    with locked(path):
        for _ in range(2):  # the second is first in the line again
            with pytest.raises(LockTimeout, match=rf"process {os.getpid()} has had it locked for more than 0\.05 s"):
                locked(path, SHORT_S)
    with locked(path, 0.0):
        pass


def test_who_gives_up_in_the_middle_of_the_line_leaves_it(path):
    order = []
    with locked(path) as file, waiting(path, lambda: order.append("first")):
        with pytest.raises(LockTimeout, match=rf"process {os.getpid()} has had it locked"):
            locked(path, SHORT_S)
        file.close()
    with locked(path):
        order.append("next")
    assert order == ["first", "next"]


def test_an_interrupt_in_the_line_leaves_it(path, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    with locked(path):
        with monkeypatch.context() as pressed:
            wait = PlaceInLine.wait
            for then in (interrupt, lambda self: (wait(self), interrupt(self))):
                pressed.setattr(PlaceInLine, "wait", then)
                with pytest.raises(KeyboardInterrupt) as kept:
                    locked(path)
                pressed.undo()
        with turnstile.Unshared(turnstile_of(path), "r+b") as line:
            assert try_lock(line)
    assert kept.tb is not None
    with locked(path, 0.0):
        pass


def test_the_line_goes_on_where_one_in_it_is_killed(path):
    with locked(path) as file:
        command = [sys.executable, "-c", WAIT, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            wait_for_a_line(path)
            process.send_signal(signal.SIGKILL)
        file.close()
        with locked(path, LONG_S):
            pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_child_of_one_in_the_line_holds_nobody_up(path):
    with locked(path) as file, waiting(path, lambda: None):
        child = os.fork()
        if not child:
            signal.pause()
        file.close()
    try:
        with locked(path), locked(turnstile_of(path), 0.0):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_where_no_file_can_be_made_there_is_no_line(path, monkeypatch):
    monkeypatch.setattr(turnstile, "turnstile_of", lambda path: path / "nowhere")
    with locked(path) as file:
        with pytest.raises(LockTimeout):
            locked(path, SHORT_S)
        file.close()
        with locked(path):
            pass


def test_a_link_in_the_place_of_the_line_is_not_followed(path):
    victim = path.with_name("victim")
    victim.write_text("mine")
    turnstile_of(path).symlink_to(victim)
    with locked(path), pytest.raises(LockTimeout):
        locked(path, SHORT_S)
    with locked(victim, 0.0):
        assert victim.read_text() == "mine"


def test_where_no_thread_can_be_started_the_line_is_looked_at_now_and_then(path, monkeypatch):
    order = []
    with locked(path) as file, waiting(path, lambda: order.append("first")):

        def refuse(self):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        file.close()
        with locked(path):
            order.append("second")
    assert order == ["first", "second"]


BUSY = """
import sys, threading
import robustbo as rb
from robustbo.view import points
step = points.step
def slow(*args):
    threading.Event().wait(0.03)
    return step(*args)
points.step = slow
opt = rb.Optimizer.resume(sys.argv[1])
def work():
    while True:
        opt.tell(opt.ask(), 1.0)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.slow
def test_an_ask_waits_for_few_of_another_process_that_asks_all_the_time(tmp_path):
    journal = str(tmp_path / "lab.jsonl")
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", acquisition="sobol", seed=0, journal=journal)
    with subprocess.Popen([sys.executable, "-c", BUSY, journal], stdin=subprocess.PIPE) as process:
        while len(opt.history) < 3:
            assert process.poll() is None
            threading.Event().wait(0.01)
        meanwhile = []
        for _ in range(4):
            before = len(opt.history)
            meanwhile.append(opt.ask().number - before)
        process.stdin.close()
    assert max(meanwhile) <= 8
