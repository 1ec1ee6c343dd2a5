"""The trials that one call of `Optimizer.optimize` asks for, and those that calls in other processes do."""

import logging
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from robustbo.loop.candidates.pending import is_exhausted
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.factory import region_of
from robustbo.study.declared import target_labels
from robustbo.study.lines import line_of
from robustbo.study.next_trials import as_of_now, hand_out
from robustbo.study.queueing import own
from robustbo.trials import worker
from robustbo.trials.aside import target_history
from robustbo.trials.declared import Declared, source_in
from robustbo.trials.extent import settings_at, space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.storage.line import Event
from robustbo.trials.store import Store
from robustbo.view.view import View

ENDED = ("told", "failed", "excluded")
MARK = "/optimize-"  # in the name of whoever asks: it works on its trial, or is gone

_at_work = set[str]()  # the names that calls in this process ask under

log = logging.getLogger("robustbo")


class Request(NamedTuple):
    """A trial to evaluate, and the history that a model was fitted to for it; None where none was."""

    trial: Trial
    history: History | None


class Asking:
    """Asks for trials under a name of its own, by which those that have not ended are found again.

    Calls that share a journal begin no more trials between them than are wanted. What somebody asks for by hand is not
    counted until it has ended: nobody knows whether it will.

    Args:
        store: Of the optimization.
        fits: Its last fits.
        num_trials: How many trials are to have ended.

    Attributes:
        declared: The sources that the study was begun with.
    """

    def __init__(self, store: Store, fits: FitCache, num_trials: int) -> None:
        self._store, self._fits, self._num_trials = store, fits, num_trials
        self.declared = store.settings.sources
        self._by = f"{worker.name()}{MARK}{secrets.token_hex(3)}"
        _at_work.add(self._by)

    def end(self) -> None:
        """Ask for nothing more."""
        _at_work.discard(self._by)

    def is_enough(self, history: History) -> bool:
        """Return whether so many trials have ended."""
        return num_ended(history, self.declared) >= self._num_trials

    def is_wanted(self, history: History) -> bool:
        """Return whether another trial is to begin."""
        in_hand = sum(MARK in (trial.asked_by or "") for trial in history.having("pending"))
        return num_ended(history, self.declared) + in_hand < self._num_trials and not self.has_nothing_new(history)

    def has_nothing_new(self, history: History) -> bool:
        """Return whether every point of a finite space has been asked for, and none waits."""
        region = region_of(space_of(self._store.settings, history))
        return is_exhausted(region, target_history(self.declared, history).trials) and not history.trials.num("queued")

    def open_trials(self, history: History) -> list[Trial]:
        """Trials that were asked for here and have not ended."""
        return [trial for trial in history.having("pending") if trial.asked_by == self._by]

    def next(self) -> Request | None:
        """The next trial, as `Optimizer.ask` gives it; None where none is wanted, which is settled under one lock.

        Raises:
            JournalError: If the journal cannot be written.
        """
        histories = [History()]

        def events_of(history: History) -> Sequence[Event] | None:
            histories[0] = history
            if not self.is_wanted(history):
                return None
            settings = settings_at(self._store.settings, history)  # the function is the target's, of declared sources
            return hand_out(View(settings, history, self._fits), 1, self._by, labels=target_labels(settings))

        events = self._store.decide(events_of, as_of_now)
        if events is None:
            return None
        event = events[-1]
        trial = own(self._store.state.history[event["trial"]])
        log.info("asked: %s", line_of(trial, self._store.settings.quantities))
        is_fitted = trial.origin == "model" and event["event"] == "ask" and "fallback" not in event
        return Request(trial, histories[0] if is_fitted else None)


def stale_trials(history: History) -> list[Trial]:
    """Trials that an earlier call in this process could not give back."""
    ours = f"{worker.name()}{MARK}"
    pending = [(trial, trial.asked_by or "") for trial in history.having("pending")]
    return [trial for trial, by in pending if by.startswith(ours) and by not in _at_work]


def num_ended(history: History, declared: Declared = ()) -> int:
    """Number of trials that have ended; of sources that are declared, those of the target alone.

    Example:
        >>> num_ended(History((Trial(0, {}, state="told"), Trial(1, {}, state="pending"))))
        1
    """
    num_aside = sum(t.state in ENDED and source_in(declared, t.sources) is not None for t in history) if declared else 0
    return sum(map(history.trials.num, ENDED)) - num_aside
