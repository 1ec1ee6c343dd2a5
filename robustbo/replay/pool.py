"""Many cells on several processes of one thread each; any may be killed, and its cell goes on in another."""

import math
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from robustbo.replay.engine import AnyCell
from robustbo.replay.work import DEATHS, KILLED, Failure, Progress, work

POLL_S = 0.2
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def run_cells(
    cells: Sequence[AnyCell], jobs: int, notify: Callable[[Progress], None], *, fail_fast: bool = False
) -> list[Failure]:
    """Run cells, ``jobs`` at a time; those that fail do not stop the others.

    Args:
        cells: Which ones.
        jobs: Processes; 1 stays in this one.
        notify: Called in this process after each trial.
        fail_fast: Whether the first failure stops all others instead.

    Returns:
        The failures, in no particular order.
    """
    if jobs == 1:
        failures = []
        for cell in cells:
            if (failure := work(cell, notify)) is not None:
                failures.append(failure)
                if fail_fast:
                    break
        return failures
    context = multiprocessing.get_context("spawn")
    messages: Any = context.SimpleQueue()
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    run = _Run(list(cells), notify, messages, fail_fast)
    try:
        while run.waiting and not run.is_over:
            with ProcessPoolExecutor(jobs, context, _begin_worker, (messages,)) as pool:
                try:
                    run.supervise(pool, jobs)
                except KeyboardInterrupt:
                    _terminate()
                    raise
                if run.is_over:
                    _terminate()
    finally:
        for name, value in before.items():
            _ = os.environ.pop(name) if value is None else os.environ.update({name: value})
    return run.failures


class _Run:
    """What is left to do, and what failed.

    The methods that have taken longest go first, and those that nothing is known of before them: so the last cell that
    runs, alone, is a short one.
    """

    def __init__(
        self, cells: list[AnyCell], notify: Callable[[Progress], None], messages: Any, fail_fast: bool
    ) -> None:
        self.waiting, self.failures = cells, list[Failure]()
        self._notify, self._messages, self._fail_fast = notify, messages, fail_fast
        self._deaths: Counter[tuple[str, int]] = Counter()
        self.took: dict[str, list[float]] = {}

    @property
    def is_over(self) -> bool:
        """Whether a failure stops the rest."""
        return self._fail_fast and bool(self.failures)

    def supervise(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        """Run cells until there are none, one stops the rest, or a process of the pool dies: its cells wait again."""
        running: dict[Any, tuple[AnyCell, float]] = {}
        is_alive = True
        while running or (self.waiting and is_alive):
            with _sigint_ignored():  # which the workers inherit: Ctrl-C reaches all, the parent alone acts on it
                while is_alive and self.waiting and len(running) < jobs:
                    cell = self.next()
                    try:
                        future = pool.submit(_work, cell)
                    except BrokenProcessPool:
                        is_alive = False
                    else:
                        self.waiting.remove(cell)
                        running[future] = (cell, time.perf_counter())
            done, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
            self._drain()
            for future in done:
                cell, started = running.pop(future)
                try:
                    self.failures += [] if (failure := future.result()) is None else [failure]
                    self.took.setdefault(cell.method, []).append(time.perf_counter() - started)
                except BrokenProcessPool:
                    is_alive = False
                    self._dead(cell)
            if self.is_over:
                return
        self._drain()

    def next(self) -> AnyCell:
        """Which of those that wait."""
        means = {method: sum(took) / len(took) for method, took in self.took.items()}
        return max(self.waiting, key=lambda cell: means.get(cell.method, math.inf))

    def _dead(self, cell: AnyCell) -> None:
        """Its process was killed, or another of the pool; let it wait again, unless it is often there when one dies."""
        self._deaths[cell.method, cell.replication] += 1
        if self._deaths[cell.method, cell.replication] < DEATHS:
            self.waiting.append(cell)
        else:
            self.failures.append(Failure(cell.method, cell.replication, KILLED))

    def _drain(self) -> None:
        while not self._messages.empty():
            self._notify(self._messages.get())


def _terminate() -> None:
    for child in multiprocessing.active_children():
        child.terminate()


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


_messages: Any = None  # a worker's way to its parent; a queue can only be inherited, not sent


def _begin_worker(messages: Any) -> None:
    global _messages
    _messages = messages
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Leave with a parent that was killed, who could not say so; what is recorded stays, as after any kill."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(cell: AnyCell) -> Failure | None:
    return work(cell, _messages.put)
