import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from robustbo.replay.execute import workers

forked = pytest.mark.skipif(not workers.IS_FORKED, reason="each imports for itself")


def asked(question):
    """What a new process says, in which nothing of ours has been called."""
    with workers.one_thread(), ProcessPoolExecutor(1, workers.CONTEXT) as pool:
        return pool.submit(eval, question).result()


PRELOADED = """
from concurrent.futures import ProcessPoolExecutor
from robustbo.replay.execute import workers
workers.begin()
with workers.one_thread(), ProcessPoolExecutor(1, workers.CONTEXT) as pool:
    print(pool.submit(eval, f"{workers.PRELOADED!r} in __import__('sys').modules").result())
"""


@pytest.mark.slow
@forked
def test_a_new_process_has_imported_all():
    """In a process of its own: there is one server to a process, and another test may have begun it."""
    ran = subprocess.run([sys.executable, "-c", PRELOADED], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["True"]


IN_A_NEW_PROCESS = """
import signal, threading
from concurrent.futures import ProcessPoolExecutor
from robustbo.replay.execute import workers
blocked = "__import__('signal').pthread_sigmask(0, [])"
begin = threading.Thread(target=workers.begin)
{begin}
with ProcessPoolExecutor(1, workers.CONTEXT) as pool:
    print(signal.SIGINT in pool.submit(eval, blocked).result(), signal.SIGINT in eval(blocked))
"""


@pytest.mark.slow
@forked
@pytest.mark.parametrize("begin", ["begin.run()", "begin.start(); begin.join()"])
def test_it_leaves_ctrl_c_to_its_parent(begin):
    script = [sys.executable, "-c", IN_A_NEW_PROCESS.format(begin=begin)]
    found = subprocess.run(script, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False"]


def test_it_has_one_thread_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    workers.begin()
    assert asked("__import__('torch').get_num_threads()") == 1


def test_the_environment_is_as_before_afterwards(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with workers.one_thread():
        assert os.environ["MKL_NUM_THREADS"] == os.environ["OMP_NUM_THREADS"] == "1"
    assert "MKL_NUM_THREADS" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "7"


@forked
def test_begun_twice_is_begun_once():
    workers.begin()
    before = asked("__import__('os').getppid()")
    workers.begin()
    assert asked("__import__('os').getppid()") == before
