"""Processes of one thread each, forked from one that has imported what they need.

It imports once, while the caller imports the same, and a process that takes a killed one's place need not. This module
must itself be imported in no time: nothing heavy here.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from robustbo.determinism.worker_processes import CONTEXT, IS_FORKED, THREADS, begin_server, block_sigint

__all__ = ["CONTEXT", "IS_FORKED", "PRELOADED", "begin", "one_thread"]
PRELOADED = "robustbo.replay.execute.pool"


def begin() -> None:
    """Let the process import from which the others are to be forked, unless it runs already; returns at once.

    There is one such process to a caller, and one list of what it imports: from here on it is ours.
    """
    if IS_FORKED:
        CONTEXT.set_forkserver_preload([PRELOADED])
        with one_thread(), block_sigint():
            begin_server()


@contextmanager
def one_thread() -> Iterator[None]:
    """Give processes that begin in the block one thread for linear algebra."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            _ = os.environ.pop(name) if value is None else os.environ.update({name: value})
