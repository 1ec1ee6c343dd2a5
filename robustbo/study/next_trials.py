"""Events of giving trials out: who is given which.

Trials that wait (enqueued, or taken back) are given out before anything new is decided on.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from robustbo.errors import SpaceExhausted
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.region import Fixed
from robustbo.study.declared import queue_labels, waits_for
from robustbo.trials import worker
from robustbo.trials.sources import source_entry
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State
from robustbo.view.view import View


def hand_out(
    view: View, n: int, by: str, fixed: Fixed = (), labels: Mapping[str, str] = MappingProxyType({})
) -> list[Event]:
    """The events that give somebody the next ``n`` trials, where some values are fixed: of those that wait, such ones.

    Args:
        view: The study.
        n: How many.
        by: Whose they are.
        fixed: Parameters that have a given value, and it.
        labels: The source that will measure them, where that is known.

    Raises:
        FitError: If the surrogate cannot be fitted.
        SpaceExhausted: If every point of the space is being measured.
        SpaceError: If no point keeps the constraints, with what is fixed.
    """
    region = region_of(view.space, fixed) if fixed or view.history.changes else None
    new_events: list[Event] = []
    for _ in range(n):
        author: Event = {"by": by, "at": worker.now(), **source_entry(labels)}
        waiting = (
            t
            for t in view.history.trials.having("queued")
            if (region is None or region.contains(t.params)) and waits_for(view.settings, t, labels)
        )
        if (first := next(waiting, None)) is not None:
            own = queue_labels(view.settings, first) | author.get("source", {})
            events: list[Event] = [{"event": "assign", "trial": first.number, **author, **source_entry(own)}]
        else:
            try:
                number = len(view.history)
                *diagnosis, ask = view.suggest(number, fixed, tuple(labels.items())).events(number)
            except SpaceExhausted as error:
                if not new_events:
                    raise
                left = sum(event["event"] in ("ask", "assign") for event in new_events)
                raise SpaceExhausted(
                    f"{n} points were requested, and only {left} {'is' if left == 1 else 'are'} left; ask for {left}"
                ) from error
            own = ask.get("source", {}) | author.get("source", {})
            events = [*diagnosis, {**ask, **author, **source_entry(own)}]
        view = View(view.settings, view.history.apply_all(events), view.fits)
        new_events += events
    return new_events


def as_of_now(events: Sequence[Event], before: State, now: State) -> Sequence[Event] | None:
    """Events that were decided on a while ago, with what they have not seen; None if they do not fit any more.

    They fit as long as no trial has begun since, and what they give out still waits. Which events the decision has not
    seen is kept with it, so that it can be computed again.
    """
    assigned = {event["trial"] for event in events if event["event"] == "assign"}
    waits = all(now.history[number].state == "queued" for number in assigned)
    if len(now.history) != len(before.history) or not waits:
        return None
    if now.mark.length == before.mark.length:
        return events
    unseen = {"unseen": [before.mark.length, now.mark.length]}
    return [{**event, **unseen} if event["event"] == "ask" else event for event in events]
