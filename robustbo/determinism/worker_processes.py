"""Processes that work for this one: how they begin, and end with it; it must be imported in no time.

Where it can be they are forked from one process, of which there is one to a caller, and one list of what it imports.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from typing import Any

IS_FORKED = "forkserver" in multiprocessing.get_all_start_methods()  # else each imports
IS_POSIX = os.name == "posix"
CONTEXT: Any = multiprocessing.get_context("forkserver" if IS_FORKED else "spawn")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@contextmanager
def block_sigint() -> Iterator[None]:
    """Block SIGINT, which new processes inherit: Ctrl-C reaches all of them, and the parent alone acts on it."""
    if not IS_POSIX:
        yield
        return
    resource_tracker.ensure_running()  # whose beginning would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_server() -> None:
    """Begin the process from which the others are forked, unless it runs already; returns at once."""
    if IS_FORKED:
        forkserver.ensure_running()


def begin_work(environment: Mapping[str, str], last_act: Callable[[], object] = lambda: None) -> None:
    """Give a new process the environment of its parent, which it may not have inherited, and let it end with that.

    Args:
        environment: All of it.
        last_act: What it does before it ends since its parent did, who could not say so.
    """
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with_parent, args=[last_act], daemon=True).start()


def _end_with_parent(last_act: Callable[[], object]) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    last_act()
    os._exit(1)
