"""A Dask cluster: trials are its tasks. Nothing of Dask is imported here, a client brings all."""

import math
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from robustbo.driving.evaluators.outcome import (
    Evaluation,
    Function,
    attempt_on_node,
    outcome_of_exit,
    outcome_of_overdue,
    receive,
)
from robustbo.trials.trial import Trial

POLL_S = 1.0  # after which the cluster is asked for its size again


class Cluster:
    """An `Evaluator` on the workers of a Dask cluster.

    Where a worker is killed the scheduler gives its tasks to others, as often as it is set up to
    (``distributed.scheduler.allowed-failures``); a task that is given up fails its trial. A task that runs cannot be
    stopped: when it is given up it goes on, for nothing.

    Args:
        func: The function.
        client: A `distributed.Client`.
        jobs: How many trials at once; 1 for as many as the cluster has threads, at any time.
        limit_s: After so many seconds a trial is given up, and has failed.

    Raises:
        TypeError: If the client is none, or an asynchronous one.
    """

    def __init__(self, func: Function, client: Any, jobs: int, limit_s: float = math.inf) -> None:
        if not (callable(getattr(client, "submit", None)) and callable(getattr(client, "nthreads", None))):
            raise TypeError(f"client must be a dask.distributed.Client, got {client!r}")
        if getattr(client, "asynchronous", False):
            raise TypeError(f"client must not be asynchronous, got {client!r}; optimize waits for it in this thread")
        self._func, self._client, self._jobs = func, client, jobs
        self._limit_s, self._ends_at = limit_s, dict[int, float]()
        self._running: dict[int, tuple[Trial, Any]] = {}
        self._ended = queue.SimpleQueue[tuple[Trial, Evaluation | BaseException]]()
        self._has_ended = threading.Event()
        self._places = jobs
        self._look()

    def _look(self) -> None:
        if self._jobs == 1:
            self._places = max(1, sum(self._client.nthreads().values()))

    def has_room(self) -> bool:
        """Return whether there are more threads than trials."""
        return len(self._running) < self._places

    def submit(self, trial: Trial) -> None:
        """Make it a task."""
        future = self._client.submit(attempt_on_node, self._func, trial.params, pure=False)
        self._running[trial.number] = trial, future
        self._ends_at[trial.number] = time.monotonic() + self._limit_s
        future.add_done_callback(lambda future: self._hear(trial, future))

    def _hear(self, trial: Trial, future: Any) -> None:
        """Wait for a result, in a thread of the client's."""
        try:
            self._ended.put((trial, _outcome(future)))
        except BaseException as error:
            self._ended.put((trial, error))
        self._has_ended.set()

    def wait(self, timeout_s: float | None) -> None:
        """Wait until a task has ended, or the cluster may have grown."""
        self._has_ended.wait(POLL_S if timeout_s is None else min(timeout_s, POLL_S))
        self._look()

    def take(self) -> Iterator[tuple[Trial, Evaluation]]:
        """The tasks that have ended.

        Raises:
            RuntimeError: If one could not be run at all; the cause is what Dask says.
        """
        self._has_ended.clear()
        while not self._ended.empty():
            trial, outcome = self._ended.get()
            if self._running.pop(trial.number, None) is None:  # it was given up
                continue
            if isinstance(outcome, BaseException):
                raise RuntimeError(f"the cluster must be able to evaluate func, it says: {outcome}") from outcome
            yield trial, outcome
        for trial, future in [*self._running.values()]:
            if time.monotonic() >= self._ends_at[trial.number]:
                del self._running[trial.number]
                self._client.cancel([future])
                yield trial, outcome_of_overdue(self._limit_s)

    def close(self, *, is_at_once: bool) -> None:
        """Take back the tasks that have not begun."""
        if self._running:
            self._client.cancel([future for _, future in self._running.values()])
        self._running = {}


def _outcome(future: Any) -> Evaluation:
    """Raises what is no doing of the function's."""
    if future.status == "error" and type(error := future.exception()).__name__ == "KilledWorker":
        return outcome_of_exit(f"its Dask worker: {error}")
    return receive(future.result())
