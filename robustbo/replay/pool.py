"""Many cells on several processes of one thread each; any may be killed, and the same call goes on from there."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, NamedTuple

from robustbo.replay.cell import Cell
from robustbo.replay.engine import run

POLL_S = 0.2
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


class Progress(NamedTuple):
    """One trial done: of which cell, how many so far, and the true value at the recommended point."""

    method: str
    replication: int
    trials: int
    value: float | None


class Failure(NamedTuple):
    """A cell that did not get to its end, and why."""

    method: str
    replication: int
    reason: str


def run_cells(cells: Sequence[Cell], jobs: int, notify: Callable[[Progress], None]) -> list[Failure]:
    """Run cells, ``jobs`` at a time; those that fail do not stop the others.

    Args:
        cells: Which ones.
        jobs: Processes; 1 stays in this one.
        notify: Called in this process after each trial.

    Returns:
        The failures, in no particular order.
    """
    if jobs == 1:
        return [failure for cell in cells if (failure := _guarded(cell, notify)) is not None]
    context = multiprocessing.get_context("spawn")
    messages: Any = context.SimpleQueue()
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with ProcessPoolExecutor(jobs, context, _begin_worker, (messages,)) as pool:
            try:
                return _supervise(pool, cells, messages, notify)
            except KeyboardInterrupt:
                for child in multiprocessing.active_children():
                    child.terminate()
                raise
    finally:
        for name, value in before.items():
            _ = os.environ.pop(name) if value is None else os.environ.update({name: value})


def _supervise(
    pool: ProcessPoolExecutor, cells: Sequence[Cell], messages: Any, notify: Callable[[Progress], None]
) -> list[Failure]:
    with _sigint_ignored():  # which the workers inherit: Ctrl-C reaches all, the parent alone acts on it
        running = {pool.submit(_work, cell): cell for cell in cells}
    failures = []
    while running:
        done, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
        _drain(messages, notify)
        for future in done:
            cell = running.pop(future)
            try:
                failure = future.result()
            except BrokenProcessPool:
                failure = Failure(
                    cell.method, cell.replication, "its process was killed; the same command goes on from here"
                )
            failures += [failure] if failure is not None else []
    _drain(messages, notify)
    return failures


def _drain(messages: Any, notify: Callable[[Progress], None]) -> None:
    while not messages.empty():
        notify(messages.get())


@contextmanager
def _sigint_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _guarded(cell: Cell, notify: Callable[[Progress], None]) -> Failure | None:
    try:
        run(cell, lambda trials, value: notify(Progress(cell.method, cell.replication, trials, value)))
    except Exception as error:
        return Failure(cell.method, cell.replication, f"{type(error).__name__}: {error}")
    return None


_messages: Any = None  # a worker's way to its parent; a queue can only be inherited, not sent


def _begin_worker(messages: Any) -> None:
    global _messages
    _messages = messages


def _work(cell: Cell) -> Failure | None:
    return _guarded(cell, _messages.put)
