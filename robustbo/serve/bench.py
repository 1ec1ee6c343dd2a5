"""The study that is served: asks and beliefs, one at a time in a thread beside the server, and who watches.

A tell takes milliseconds and is recorded in the thread of its request, whatever is being computed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from robustbo.errors import RobustBOError
from robustbo.loop.surrogate.attempt import describe_error
from robustbo.serve.extras import COMPARISON, NOTHING, Extras, Histories, are_same
from robustbo.serve.served import Served
from robustbo.trials.history import Trial
from robustbo.trials.storage.places import Place, display_name, is_address
from robustbo.view.view import View

log = logging.getLogger("robustbo")

LOOK_S = 0.5  # between two looks at whether others have written to the journal
BEAT_S = 15.0  # between two signs of life to whoever watches
MOST_ASKS = 20  # that wait for each other
MOST_WATCHERS = 100
MOST_RESULTS = 40  # of computations that are at hand
MOST_COMPUTING = 20  # that wait for each other; pages ask again


class TooBusyError(RobustBOError):
    """Too many wait already."""


@dataclass
class AskJob:
    """Points that are being decided on.

    Attributes:
        n: How many.
        by: Who is to measure them.
        since: When it was asked for, by the clock of `time.monotonic`.
        error: Why there are none, once that is known.
    """

    n: int
    by: str
    since: float = field(default_factory=time.monotonic)
    error: str | None = None


def study_name(place: Place) -> str:
    """The name of a study for its pages: that of its file, or the address of a database without its password."""
    return display_name(place) if is_address(place) else Path(place).name


class Bench:
    """A study that is served.

    Args:
        opt: It.
        place: Of its journal.
        extras: What is compared with it, and what it may cost.
    """

    def __init__(self, opt: Served, place: Place, extras: Extras = NOTHING) -> None:
        self.opt, self.name, self.extras = opt, study_name(place), extras
        self.asks: list[AskJob] = []
        self.trouble: str | None = None
        self.last_error: str | None = None
        self._decisions = ThreadPoolExecutor(1, "decisions")
        self._results: dict[str, tuple[Histories, Any]] = {}
        self._running: set[str] = set()
        self._lock, self._queues = Lock(), set[asyncio.Queue[str]]()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._start, self._count, self._shown = secrets.token_hex(3), 0, self.extras.with_own(opt.history)

    def ask(self, n: int, *, fixed: Mapping[str, Any], by: str, source: Mapping[str, str]) -> Future[list[Trial]]:
        """Begin to ask for points; one ask after the other.

        Raises:
            TooBusyError: If too many asks wait.
        """
        with self._lock:
            if len(self.asks) >= MOST_ASKS:
                raise TooBusyError(f"{MOST_ASKS} asks wait already; try again when these are done")
            job = AskJob(n, by)
            self.asks.append(job)
        self.last_error = None
        self.publish()
        return self._decisions.submit(self._run_ask, job, fixed, source)

    def _run_ask(self, job: AskJob, fixed: Mapping[str, Any], source: Mapping[str, str]) -> list[Trial]:
        try:
            if source:
                return self.opt.ask(job.n, fixed=fixed, by=source)
            return self.opt.ask_as(job.by, job.n, fixed=fixed)
        except Exception as error:
            self.last_error = str(error) if isinstance(error, RobustBOError) else describe_error(error)
            raise
        finally:
            with self._lock:
                self.asks.remove(job)
            self.publish()

    def latest(self, name: str, compute: Callable[[View], Any]) -> tuple[Any, bool]:
        """The last result of a computation, and whether it is of the study as it is now; else that is begun.

        Args:
            name: What it is.
            compute: Computes it.

        Returns:
            None where nothing has been computed yet.
        """
        histories = self._histories_of(name)
        with self._lock:
            before, result = self._results.get(name, ((), None))
            is_now = are_same(before, histories)
            if not is_now and name not in self._running and len(self._running) < MOST_COMPUTING:
                self._running.add(name)
                self._decisions.submit(self._compute, name, compute)
        return result, is_now

    def wait_for(self, name: str, compute: Callable[[View], Any]) -> Any:
        """Compute it now, after what is being computed; for whoever can wait."""
        return self._decisions.submit(self._compute_of, name, compute).result()

    def _compute_of(self, name: str, compute: Callable[[View], Any]) -> Any:
        histories, view = self._histories_of(name), self.opt.view
        before, result = self._results.get(name, ((), None))
        if not are_same(before, histories):
            result = compute(view)
            self._keep(name, histories, result)
        return result

    def _histories_of(self, name: str) -> Histories:
        """The histories that a result is of: that of the study, and for the comparison those of the others."""
        return self.extras.with_own(self.opt.history) if name == COMPARISON else (self.opt.history,)

    def _keep(self, name: str, histories: Histories, result: Any) -> None:
        self._results.pop(name, None)
        self._results[name] = histories, result
        while len(self._results) > MOST_RESULTS:
            del self._results[next(iter(self._results))]

    def _compute(self, name: str, compute: Callable[[View], Any]) -> None:
        try:
            self._compute_of(name, compute)
        except Exception as error:  # a page says so, and goes on
            log.debug("a page could not be computed", exc_info=True)
            self._keep(name, self._histories_of(name), describe_error(error))
        finally:
            with self._lock:
                self._running.discard(name)
            self.publish()

    def state(self) -> dict[str, Any]:
        """The state of the study that every open page shows, as plain values."""
        history = self.opt._store.state.history
        shown = self.extras.with_own(history, is_looking=False)
        with self._lock:
            asks = [{"n": job.n, "by": job.by, "seconds": round(time.monotonic() - job.since)} for job in self.asks]
            running = sorted(self._running)
            if not are_same(self._shown, shown):
                self._shown, self._count = shown, self._count + 1
            version = f"{self._start}-{self._count}"
        return {
            "version": version,
            "trials": history.counts(),
            "asks": asks,
            "computing": running,
            "error": self.last_error or self.trouble,
        }

    def publish(self) -> None:
        """Say to whoever watches how the study stands."""
        if (loop := self._loop) is None or loop.is_closed():
            return
        with suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(self._send)

    def _send(self) -> None:
        message = json.dumps(self.state())
        for queue in self._queues:
            while not queue.empty():  # only the last one counts
                queue.get_nowait()
            queue.put_nowait(message)

    async def watch(self) -> None:
        """Look again and again at whether others have written to the journal, for ever."""
        self._loop = asyncio.get_running_loop()
        before: Histories = ()
        while True:
            histories, trouble = before, None
            try:
                histories = await asyncio.to_thread(lambda: self.extras.with_own(self.opt.history))
            except (RobustBOError, OSError) as error:
                trouble = str(error)
            if not are_same(histories, before) or trouble != self.trouble:
                before, self.trouble = histories, trouble
                self._send()
            await asyncio.sleep(LOOK_S)

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events: how the study stands, whenever that changes."""
        if len(self._queues) >= MOST_WATCHERS:
            return
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield f"event: state\ndata: {json.dumps(self.state())}\n\n"
            while True:
                try:
                    yield f"event: state\ndata: {await asyncio.wait_for(queue.get(), BEAT_S)}\n\n"
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._queues.discard(queue)

    def close(self) -> None:
        """Wait for nothing that has not begun; what is decided on is finished, and recorded."""
        self._decisions.shutdown(wait=False, cancel_futures=True)
