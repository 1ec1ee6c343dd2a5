"""Processes of one thread each, forked from one that has imported what they need.

It imports once, while the caller imports the same, and a process that takes a killed one's place need not. This module
must itself be imported in no time: nothing heavy here.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker

IS_FORKED = "forkserver" in multiprocessing.get_all_start_methods()  # else each imports
CONTEXT = multiprocessing.get_context("forkserver" if IS_FORKED else "spawn")
PRELOADED = "robustbo.replay.execute.pool"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def begin() -> None:
    """Let the process import from which the others are to be forked, unless it runs already; returns at once.

    There is one such process to a caller, and one list of what it imports: from here on it is ours.
    """
    if IS_FORKED:
        CONTEXT.set_forkserver_preload([PRELOADED])
        resource_tracker.ensure_running()  # whose beginning would unblock the signal
        with one_thread(), _block_sigint():
            forkserver.ensure_running()


@contextmanager
def one_thread() -> Iterator[None]:
    """Give processes that begin in the block one thread for linear algebra."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            _ = os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def _block_sigint() -> Iterator[None]:
    """Block SIGINT, which new processes inherit: Ctrl-C reaches all of them, and the parent alone acts on it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
