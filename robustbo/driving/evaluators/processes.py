"""Worker processes of this machine: one that dies fails its trial only, and another takes its place."""

import itertools
import math
import os
import pickle
from collections.abc import Iterator
from multiprocessing import connection

from robustbo.driving.evaluators.outcome import Evaluation, Function, outcome_of_overdue
from robustbo.driving.evaluators.worker import Worker
from robustbo.trials.trial import Trial
from robustbo.trials.worker import computer


class Processes:
    """An `Evaluator` in so many worker processes, which begin as they are needed, the first at once.

    Each has its share of the processor's cores for linear algebra, unless the environment says how many.

    Args:
        func: The function; it must be picklable, and importable by other processes.
        jobs: How many.
        limit_s: After so many seconds an evaluation is ended, with its process.

    Raises:
        TypeError: If the function cannot be pickled.
        RuntimeError: If no process can begin.
    """

    def __init__(self, func: Function, jobs: int, limit_s: float = math.inf) -> None:
        self._func, self._jobs, self._limit_s = _pickle(func, jobs), jobs, limit_s
        self._threads = max(1, _cores() // jobs)
        self._workers: list[Worker] = []
        self._workers.append(self._new())

    def _new(self) -> Worker:
        places = {worker.place for worker in self._workers}
        return Worker(self._func, self._threads, next(place for place in itertools.count(1) if place not in places))

    def has_room(self) -> bool:
        """Return whether one has nothing to do, or is not there yet."""
        return sum(worker.trial is not None for worker in self._workers) < self._jobs

    def submit(self, trial: Trial) -> None:
        """Give it to one."""
        for worker in [w for w in self._workers if w.trial is None]:
            if worker.is_alive and worker.give(trial):
                return
            worker.end(is_at_once=True)
            self._workers.remove(worker)
        self._workers.append(self._new())
        self._workers[-1].give(trial)

    def wait(self, timeout_s: float | None) -> None:
        """Wait until one has something to say, dies, or has taken too long."""
        busy = [worker for worker in self._workers if worker.trial is not None]
        if busy:
            left = min(worker.time_left_s(self._limit_s) for worker in busy)
            seconds = min(math.inf if timeout_s is None else timeout_s, max(left, 0.0))
            waitables = [waitable for worker in busy for waitable in worker.waitables]
            connection.wait(waitables, None if seconds == math.inf else seconds)

    def take(self) -> Iterator[tuple[Trial, Evaluation]]:
        """Take the outcomes that have arrived; dead processes are replaced when there is need."""
        for worker in list(self._workers):
            trial = worker.trial
            if trial is not None and (outcome := self._outcome(worker)) is not None:
                worker.trial = None
                if not worker.is_alive:
                    self._workers.remove(worker)
                place = f"{computer()}/{worker.place}" if self._jobs > 1 else None  # else all are of one
                yield trial, outcome._replace(computer=place)

    def _outcome(self, worker: Worker) -> Evaluation | None:
        """The outcome of a worker's trial, if that has ended, or been ended for its time."""
        outcome = worker.outcome()
        if outcome is None and worker.time_left_s(self._limit_s) <= 0:
            worker.end(is_at_once=True)
            return outcome_of_overdue(self._limit_s)
        return outcome

    def close(self, *, is_at_once: bool) -> None:
        """End them, with what they have started."""
        for worker in self._workers:
            worker.dismiss()
        for worker in self._workers:
            worker.end(is_at_once=is_at_once)
        self._workers = []


def _pickle(func: Function, jobs: int) -> bytes:
    try:
        return pickle.dumps(func)
    except Exception as error:  # whatever an object of theirs does when it is pickled
        need, without = (f"jobs={jobs}", "jobs=1") if jobs > 1 else ("an evaluation_timeout", "none")
        raise TypeError(
            f"func must be picklable for {need}, got {func!r}: {error}; define it at the top of a module, use "
            f"{without}, or give the client of a Dask cluster"
        ) from error


def _cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
