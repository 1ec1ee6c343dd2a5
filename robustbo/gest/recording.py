"""The events that results stand for.

The first result of a suggested point is its trial's; further ones (an evaluation that gave several values, a late one)
are trials of their own that repeat it. A result that was given before, as by a loop that starts again with all it has,
is not recorded again.
"""

import math
from collections.abc import Sequence

from robustbo.foreign.frame_json import number_in_json
from robustbo.gest.results import Result
from robustbo.searchspace.space import Space
from robustbo.study.handing import end_event
from robustbo.trials import worker
from robustbo.trials.declared import Declared, source_in
from robustbo.trials.history import History, Trial
from robustbo.trials.storage.line import Event

SAME = 1e-9  # of the unit interval in every parameter
EQUAL = 1e-14  # of a value: what a number loses that is written with 15 digits


def events_of(space: Space, history: History, results: Sequence[Result], declared: Declared = ()) -> list[Event]:
    """The events that record results, without those that history has already.

    Args:
        space: Whose points the trials are.
        history: All trials.
        results: Any number of them.
        declared: The sources that are declared; the same value of two sources is two.
    """
    before, events = _Before(space, history, declared), list[Event]()
    for result in results:
        if not before.has(result):
            event = _event_of(history, result)
            history = history.apply_all([event])
            events.append(event)
    return events


def _event_of(history: History, result: Result) -> Event:
    if result.number is None:
        return end_event(history, result.kind, result.params, result.content)
    if history[result.number].is_open:
        return end_event(history, result.kind, result.number, {**result.content, "params": result.params})
    late = {"params": result.params, "repeats": result.number, "origin": "late"}
    author = {"by": worker.name(), "at": worker.now()}
    return {"event": result.kind, "trial": len(history), **result.content, **late, **author}


class _Before:
    """The results that were recorded before; each can be given again once."""

    def __init__(self, space: Space, history: History, declared: Declared) -> None:
        self._space, self._declared = space, declared
        self._left = {trial.number: trial for trial in history if not trial.is_open}

    def has(self, result: Result) -> bool:
        """Return whether a result is one of them, which it is no more from then on."""
        recorded = next((trial for trial in self._left.values() if self._is(trial, result)), None)
        if recorded is not None:
            del self._left[recorded.number]
        return recorded is not None

    def _is(self, trial: Trial, result: Result) -> bool:
        if result.number is not None:
            is_his = trial.number == result.number or (trial.repeats == result.number and trial.origin == "late")
            return is_his and _gave(trial, result)
        is_of_source = source_in(self._declared, trial.sources) == source_in(
            self._declared, result.content.get("source", {})
        )
        return is_of_source and _gave(trial, result) and self._is_at(trial, result)

    def _is_at(self, trial: Trial, result: Result) -> bool:
        point, other = self._space.to_unit(trial.params), self._space.to_unit(result.params)
        return all(abs(a - b) <= SAME for a, b in zip(point, other, strict=True))


def _gave(trial: Trial, result: Result) -> bool:
    """Return whether a trial ended as a result says."""
    if trial.value is None or result.kind == "fail":
        return trial.value is None and result.kind == "fail"
    value, values = result.content["value"], (trial.value, *trial.former_values)  # what was amended was given, too
    return any(math.isclose(mine, value, rel_tol=EQUAL) for of in values for mine in (of, number_in_json(of)))
