"""Asks computed again: each decision of a journal, from the history that it had seen, for comparison."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from robustbo.errors import JournalError
from robustbo.loop.decide import step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import History
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels
from robustbo.trials.storage.line import Event

REMEMBERED = 64  # histories: more than there are decisions at once


class Decided(Protocol):
    """A decision; a `robustbo.loop.candidates.suggestion.Suggestion` is one."""

    def events(self, trial: int) -> list[dict[str, Any]]:
        """Events that a journal keeps of it: a diagnosis, if there is one, then the ask."""


class Decision(NamedTuple):
    """An ask as it was recorded and as it is computed again.

    Attributes:
        recorded: The ask as it was recorded.
        recomputed: As it is computed again.
        diagnosis: The diagnosis made with it, as it was recorded; None without.
        diagnosis_recomputed: That one as it is computed again.
        history: What the decision had seen.
        fixed: The parameters that had a given value, and it.
        by: The source that was to measure, where it was known.
    """

    recorded: Event
    recomputed: Event
    diagnosis: Event | None
    diagnosis_recomputed: Event | None
    history: History
    fixed: Fixed
    by: Labels


def recompute_asks(settings: Settings, events: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Each recorded ask, and the one computed again; see `decisions`."""
    for decision in decisions(settings, events):
        yield decision.recorded, decision.recomputed


def decisions(
    settings: Settings,
    events: Sequence[Event],
    *,
    decide: Callable[..., Decided] = step,
    fits: FitCache | None = None,
) -> Iterator[Decision]:
    """Each decision of a journal, computed again from what it had seen.

    It had seen all events before it but those that it says it has not (``unseen``), since others told them while it was
    made. An ask of a repaired journal that is marked as salvaged is ignored: what it had seen is lost.

    Args:
        settings: What the run was told at its beginning.
        events: All events of the journal, which fit each other.
        decide: Makes the decision, given settings, history, trial, fits, fixed values and, where known, the source.
        fits: The last fits.

    Raises:
        FitError: If a surrogate cannot be fitted.
        JournalError: If an ask says that it has not seen what others stand on.
    """
    before, fits = _Prefixes(events), FitCache() if fits is None else fits
    for index, event in enumerate(events):
        if event["event"] != "ask" or event.get(SALVAGED):
            continue
        diagnosis = events[index - 1] if index and events[index - 1]["event"] == "diagnose" else None
        start, stop = event.get("unseen", (0, 0))
        end = index if diagnosis is None else index - 1
        try:
            history = before(end) if start == stop else before(start).apply_all(events[stop:end])
        except (LookupError, ValueError) as error:
            raise JournalError(f"trial {event['trial']}: cannot come from these events: {error}") from error
        fixed, by = (tuple(event.get(key, {}).items()) for key in ("fixed", "source"))
        decision = decide(settings, history, event["trial"], fits, fixed, *([by] if by else []))
        *diagnoses, ask = decision.events(event["trial"])
        diagnosed = _through_json(diagnoses[0]) if diagnoses else None
        yield Decision(event, _through_json(ask), diagnosis, diagnosed, history, fixed, by)


def _through_json(event: Event) -> Event:
    """An event as it comes back from a journal."""
    return json.loads(json.dumps(event))


class _Prefixes:
    """The histories of the first so many events; the last few are remembered, and the next is folded from there."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._known: deque[tuple[int, History]] = deque(maxlen=REMEMBERED)

    def __call__(self, count: int) -> History:
        nearest = (prefix for prefix in self._known if prefix[0] <= count)
        start, history = max(nearest, key=lambda prefix: prefix[0], default=(0, History()))
        if start < count:
            history = history.apply_all(self._events[start:count])
            self._known.append((count, history))
        return history
