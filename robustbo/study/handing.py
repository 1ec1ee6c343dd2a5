"""Events of queueing trials and of ending them: whose value is whose.

Each value of a trial that was given out more than once is kept: the first is its own, a later one a trial of its own
that repeats it. No event here needs a model; those that do are in `robustbo.study.next_trials`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from robustbo.censored import to_json
from robustbo.study.origin import OF_TRIAL
from robustbo.trials import worker
from robustbo.trials.declared import Declared, label_in, source_in
from robustbo.trials.events import UNCHANGED
from robustbo.trials.history import History, Trial
from robustbo.trials.identity import point_of
from robustbo.trials.sources import COMPUTER, source_entry
from robustbo.trials.storage.line import Event
from robustbo.trials.verdicts import RAW
from robustbo.validation import index, real

TrialLike = Trial | int
LATEST = 16  # trials at which a tell looks for who else tells values, and of which sources
LONGEST_S = 10 * 365 * 86400.0


def end_event(
    history: History,
    kind: str,
    trial: TrialLike | Mapping[str, Any],
    content: Mapping[str, Any],
    declared: Declared = (),
) -> Event:
    """The event that ends a trial, or takes back how it ended.

    Args:
        history: All trials.
        kind: Of the event.
        trial: Which one; or the parameters of a measurement, which are those of an open trial at that point, if there
            is one, or else begin a trial.
        content: What else the event holds.
        declared: Sources that the study was begun with: an open trial of one is not ended by a value of another.

    Raises:
        ValueError: If there is no such trial.
    """
    content = {**content, "by": worker.name(), "at": worker.now()}
    if isinstance(trial, Mapping) and kind not in ("tell", "fail"):
        numbers_at_point = ", ".join(str(t.number) for t in history.trials.at(point_of(trial))) or "none"
        raise ValueError(
            f"{kind} must be given a trial or its number, got a point; the trials at it are: {numbers_at_point}"
        )
    if isinstance(trial, Mapping):
        waiting = _of_source(history.trials.open_at(point_of(trial)), content, declared)
        if not waiting:
            content |= _computer(history, kind, content)
            return {"event": kind, "trial": len(history), **content, "params": dict(trial)}
        trial = min(waiting, key=lambda t: (t.state != "pending", t.number))
    number = trial.number if isinstance(trial, Trial) else index(trial)
    own_trial = history[number]
    if isinstance(trial, Trial) and not _is_same(trial, own_trial):
        raise ValueError(f"trial {number} must be one of this optimization, got one elsewhere: {trial.params}")
    if kind == "fail" and own_trial.state == "failed" and "retry" in content:  # a verdict, later
        return {"event": kind, "trial": number, **content, "reason": own_trial.reason}
    has_ended = not own_trial.is_open and own_trial.state != "withdrawn"
    is_late = kind in ("tell", "fail") and has_ended and own_trial.handouts > 1
    content |= _holder(own_trial, trial, content, declared) if kind in ("tell", "fail") else {}
    if is_late:
        late = {"params": own_trial.target_params, "repeats": number, "origin": "late"}
        return {"event": kind, "trial": len(history), **late, **content, **_computer(history, kind, content)}
    if kind == "amend" and history.verdicts and UNCHANGED not in content:
        content[RAW] = True
    if content.get("params") == own_trial.params:  # where it was asked for
        del content["params"]
    is_named = bool(own_trial.sources)
    return {"event": kind, "trial": number, **content, **({} if is_named else _computer(history, kind, content))}


def _holder(own: Trial, trial: TrialLike, content: Mapping[str, Any], declared: Declared) -> dict[str, Any]:
    """The source of a value, where it is not that of its trial: of whom the caller's was given to, unless named."""
    holder = trial.sources if isinstance(trial, Trial) else {}
    if own.is_open or own.state == "withdrawn":
        labels_so_far = own.sources
    else:  # a further value; all who are given a trial of a declared source are that source
        labels_so_far, holder = {}, holder or label_in(declared, own.sources)
    labels = {**holder, **content.get("source", {})}
    return {} if labels.items() <= labels_so_far.items() else {"source": labels}


def _is_same(trial: Trial, own: Trial) -> bool:
    """Return whether a trial of the caller's is that of this optimization, whose space may have grown since."""
    places = [place.items() for place in (own.params, own.target_params)]
    return any(trial.target_params.items() <= place for place in places)


def _computer(history: History, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The source that this computer is, where another one tells values of this study, and nobody names the source."""
    if kind != "tell" or "source" in content:
        return {}
    own = worker.computer()
    tellers = [trial.told_by for trial in first_and_latest(history)]
    is_alone = all(teller is None or worker.computer(teller) == own for teller in tellers)
    return {} if is_alone else {"source": {COMPUTER: own}}


def first_and_latest(history: History) -> tuple[Trial, ...]:
    """The trials that a tell looks at for what is usual: their number does not grow."""
    return (*history.trials[:1], *history.trials[-LATEST:])


def value_content(
    value: float | Mapping[str, float], sd: float | Mapping[str, float | None] | None, lost: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """The kind and content of the event that a value is: a value that is not finite, or of no outcome, is a failure."""
    if isinstance(value, Mapping):
        values = {name: to_json(number) for name, number in value.items()}
        content = {"value": values, "sd": sd} | ({"lost": [*lost]} if lost else {})
        return ("tell", content) if value else ("fail", {"reason": "no value told was finite"})
    if math.isfinite(value):
        return "tell", {"value": to_json(value), "sd": sd}
    return "fail", {"reason": f"the value told was not finite: {value}"}


def _of_source(trials: Iterable[Trial], content: Mapping[str, Any], declared: Declared) -> list[Trial]:
    """The trials that are of the declared source which an event names."""
    name = source_in(declared, content.get("source", {}))
    return [trial for trial in trials if source_in(declared, trial.sources) == name]


def end_events(
    history: History,
    rows: Iterable[tuple[Mapping[str, Any], str, Mapping[str, Any]]],
    declared: Declared = (),
) -> list[Event]:
    """The events that end open trials at these points, or those that rows name, or else begin and end others.

    Args:
        history: All trials.
        rows: Point, kind and content of each event.
        declared: As for `end_event`.
    """
    author, number, events = {"by": worker.name(), "at": worker.now()}, len(history), list[Event]()
    waiting: dict[Any, list[Trial]] = {}
    for params, kind, content in rows:
        if OF_TRIAL in content:
            rest = {key: value for key, value in content.items() if key != OF_TRIAL} | {"params": dict(params)}
            event = end_event(history, kind, content[OF_TRIAL], rest, declared)
            is_late = event["trial"] == len(history)  # the value of one that has been told: a trial of its own
            events.append({**event, "trial": number} if is_late else event)
            number += is_late
            continue
        if (point := point_of(params)) not in waiting:
            open_trials = sorted(history.trials.open_at(point), key=lambda t: (t.state == "pending", -t.number))
            waiting[point] = open_trials
        if own := _of_source(waiting[point], content, declared):
            waiting[point].remove(own[-1])
            events.append({"event": kind, "trial": own[-1].number, **content, **author})
        else:
            events.append({"event": kind, "trial": number, **content, "params": params, **author})
            number += 1
    return events


def enqueue_events(history: History, points: Iterable[Mapping[str, Any]]) -> list[Event]:
    """The events that let points wait; one that is at an open trial's point repeats it."""
    author, events = {"by": worker.name(), "at": worker.now()}, list[Event]()
    first_at: dict[Any, int] = {}
    for number, params in enumerate(points, start=len(history)):
        if (point := point_of(params)) not in first_at:
            first_at[point] = next((trial.number for trial in history.trials.open_at(point)), number)
        first = first_at[point]
        again = {} if first == number else {"repeats": first}
        events.append({"event": "enqueue", "trial": number, "params": params, **again, **author})
    return events


def requeue_events(
    history: History, trials: TrialLike | Iterable[TrialLike] | None, older_than: timedelta | float | None
) -> list[Event]:
    """The events that let pending trials wait again: those given, those asked for so long ago, or those of the gone.

    Raises:
        ValueError: If both are given, or the age is no time.
    """
    if trials is not None and older_than is not None:
        raise ValueError("requeue takes trials or older_than, got both")
    if trials is not None:
        requested = trials if isinstance(trials, Iterable) else [trials]
        numbers = [t.number if isinstance(t, Trial) else index(t) for t in requested]
        pending = [history[number] for number in dict.fromkeys(numbers)]
    elif older_than is not None:
        last = datetime.now(UTC) - _age(older_than)
        pending = [t for t in history.having("pending") if t.asked_at is not None and t.asked_at <= last]
    else:
        pending = [t for t in history.having("pending") if t.asked_by is not None and worker.is_gone(t.asked_by)]
    author = {"at": worker.now(), "by": worker.name()}
    return [{"event": "requeue", "trial": t.number, **source_entry(t.sources), **author} for t in pending]


def _age(older_than: timedelta | float) -> timedelta:
    if isinstance(older_than, str):
        raise TypeError(f"older_than must be a number of seconds, or a timedelta, got {older_than!r}")
    seconds = older_than.total_seconds() if isinstance(older_than, timedelta) else real("older_than", older_than)
    if not 0 <= seconds <= LONGEST_S:
        raise ValueError(f"older_than must be at least 0 seconds and at most ten years, got {older_than!r}")
    return timedelta(seconds=seconds)
