"""Many cells on several processes of one thread each; any may be killed, and its cell goes on in another."""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import torch

from robustbo.determinism.interrupts import Interrupts
from robustbo.determinism.worker_processes import begin_work
from robustbo.replay.cells.cell import Cell
from robustbo.replay.execute import workers
from robustbo.replay.execute.waiting import Waiting
from robustbo.replay.execute.work import DEATHS, KILLED, CellFailure, Progress, work

POLL_S = 0.2


def run_cells(
    cells: Sequence[Cell], jobs: int, notify: Callable[[Progress], None], *, fail_fast: bool = False
) -> list[CellFailure]:
    """Run cells, ``jobs`` at a time; those that fail do not stop the others.

    Ctrl-C ends them at once, or after the next trial where a library has swallowed it.

    Args:
        cells: Which ones.
        jobs: Processes; 1 stays in this one.
        notify: Called in this process after each trial.
        fail_fast: Whether the first failure stops all others instead.

    Returns:
        The failures, in no particular order.
    """
    with Interrupts() as interrupts, interrupts.let_in():

        def notify_or_stop(progress: Progress) -> None:
            notify(progress)
            interrupts.check()

        if jobs == 1:
            return _run_here(cells, notify_or_stop, fail_fast)
        return _run_elsewhere(cells, jobs, notify_or_stop, fail_fast)


def _run_elsewhere(
    cells: Sequence[Cell], jobs: int, notify: Callable[[Progress], None], fail_fast: bool
) -> list[CellFailure]:
    """Run them on processes that begin for it."""
    messages: Any = workers.CONTEXT.SimpleQueue()
    run = _Run(cells, notify, messages, fail_fast)
    with workers.one_thread():
        while run.waiting and not run.is_over:
            workers.begin()
            worker_arguments = (messages, dict(os.environ))
            with ProcessPoolExecutor(jobs, workers.CONTEXT, _begin_worker, worker_arguments) as pool:
                try:
                    run.supervise(pool, jobs)
                except KeyboardInterrupt:
                    _terminate()
                    raise
                if run.is_over:
                    _terminate()
    return run.failures


def _run_here(cells: Sequence[Cell], notify: Callable[[Progress], None], fail_fast: bool) -> list[CellFailure]:
    """Run cells one after another."""
    failures = []
    for cell in cells:
        if (failure := work(cell, notify)) is not None:
            failures.append(failure)
            if fail_fast:
                break
    return failures


class _Run:
    """Cells that wait, and failures so far."""

    def __init__(
        self, cells: Sequence[Cell], notify: Callable[[Progress], None], messages: Any, fail_fast: bool
    ) -> None:
        self.waiting, self.failures = Waiting(cells), list[CellFailure]()
        self._notify, self._messages, self._fail_fast = notify, messages, fail_fast
        self._deaths: Counter[tuple[str, int]] = Counter()

    @property
    def is_over(self) -> bool:
        """True if a failure stops the rest."""
        return self._fail_fast and bool(self.failures)

    def supervise(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        """Run cells until there are none, one stops the rest, or a process of the pool dies: its cells wait again."""
        running: dict[Any, Cell] = {}
        is_alive = True
        while running or (self.waiting and is_alive):
            while is_alive and self.waiting and len(running) < jobs:
                cell = self.waiting.take()
                try:
                    running[pool.submit(_work, cell)] = cell
                except (BrokenProcessPool, EOFError, OSError):  # a worker died, or the process that it is forked from
                    is_alive = False
                    self._dead(cell)
            completed, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
            self._drain()
            for future in completed:
                cell = running.pop(future)
                try:
                    failure = future.result()
                except BrokenProcessPool:
                    is_alive = False
                    self._dead(cell)
                    continue
                if failure is None:
                    self.waiting.note_end(cell)
                else:
                    self.failures.append(failure)
            if self.is_over:
                return
        self._drain()

    def _dead(self, cell: Cell) -> None:
        """Let a cell of a broken pool wait again, unless it was often there when a process died."""
        self._deaths[cell.method, cell.replication] += 1
        if self._deaths[cell.method, cell.replication] < DEATHS:
            self.waiting.again(cell)
        else:
            self.failures.append(CellFailure(cell.method, cell.replication, KILLED))

    def _drain(self) -> None:
        while not self._messages.empty():
            progress = self._messages.get()
            self.waiting.note_start(progress)
            self._notify(progress)


def _terminate() -> None:
    for child in multiprocessing.active_children():
        child.terminate()


_messages: Any = None  # a worker's way to its parent; a queue can only be inherited, not sent


def _begin_worker(messages: Any, environment: Mapping[str, str]) -> None:
    """A worker's first act: what it may not have inherited, and the watch over its parent."""
    global _messages
    _messages = messages
    begin_work(environment)  # what is recorded stays when the parent is killed, as after any kill
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


def _work(cell: Cell) -> CellFailure | None:
    return work(cell, _messages.put)
