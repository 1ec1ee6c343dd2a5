"""The effect of each event on the trials: the only place that knows which events a trial allows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from robustbo.trials.event_fields import (
    NO_EXPECTATION,
    end_fields,
    expectation_fields,
    include_outcome,
    judge_outcomes,
    origin_fields,
    time_of,
    value_fields,
    vouches,
)
from robustbo.trials.storage.line import Event
from robustbo.trials.tree import Draft
from robustbo.trials.trial import OPEN, REMEASURE, RETRY, Trial

UNCHANGED = "unchanged"  # of an amendment: its value is the one before, and only sources and labels are others
BEGIN = ("ask", "enqueue")  # the events that begin a trial without ending it
ALLOWED_STATES = {
    "assign": ("queued",),
    "requeue": ("pending", "withdrawn"),
    "withdraw": (*OPEN, "failed"),
    "tell": (*OPEN, "withdrawn"),
    "fail": (*OPEN, "withdrawn"),
    "exclude": ("told",),
    "include": ("excluded", "told"),
    "amend": ("told", "excluded", "failed"),
}
ADVICE = {
    "told": "use amend to correct its value, exclude to leave it out, or include to vouch for it",
    "excluded": "use include to vouch for its value, or with vouch=False (--no-vouch) to take the exclusion back alone",
    "failed": "use amend to give it a value, or fail with retry to say whether it was a flake",
    "pending": "use tell or fail to end it",
    "withdrawn": "use requeue to have it measured after all, or tell its value",
    "queued": "the next ask gives it out; use tell or fail to end it",
}


def find_trial(trials: Sequence[Trial] | Draft, number: int, name: str = "trial") -> Trial:
    """The trial of that number among all so far.

    Args:
        trials: All trials.
        number: The number.
        name: Of the argument that has it.

    Raises:
        ValueError: If there is none.
    """
    if not 0 <= number < len(trials):
        numbers = f"one of the trials so far, 0 to {len(trials) - 1}" if len(trials) > 1 else "0, the only one so far"
        rule = numbers if trials else "asked for or told first, there is none yet"
        raise ValueError(f"{name} must be {rule}, got {number}")
    return trials[number]


def states_for(event: Event) -> tuple[str, ...]:
    """The states of a trial in which it may have an event of its own; one of an outcome alone only where it is told."""
    return ("told",) if "outcome" in event else ALLOWED_STATES[event["event"]]


def fold(trials: list[Trial] | Draft, event: Event) -> None:
    """Change the trials by an event; the order of telling is known of a draft alone."""
    kind, number = event["event"], event["trial"]
    if kind in BEGIN or (kind in ("tell", "fail") and "params" in event and number >= len(trials)):
        trials.append(_new_trial(trials, event))
        if kind not in BEGIN:
            trials[number] = _change(trials, trials[number], event)
        return
    if kind not in ALLOWED_STATES:
        raise ValueError(f"event must be one of {[*BEGIN, *ALLOWED_STATES]}, got {kind!r}")
    trial = find_trial(trials, number)
    is_verdict = kind == "fail" and "retry" in event and trial.state == "failed"
    is_verdict |= kind == "exclude" and "outcome" not in event and trial.is_source_excluded
    states = states_for(event)
    if trial.state not in states and not is_verdict:
        usual = [state for state in states if state != "withdrawn"]
        allowed, advice = " or ".join(usual), ADVICE[trial.state]
        advice += ", without an outcome" if "outcome" in event and trial.state == "excluded" else ""
        raise ValueError(f"trial {number} must be {allowed} to {kind} it, it is {trial.state}; {advice}")
    trials[number] = _change(trials, trial, event)


def _new_trial(trials: Sequence[Trial] | Draft, event: Event) -> Trial:
    number, repeats = event["trial"], event.get("repeats")
    if number != len(trials):
        raise ValueError(f"the next trial must be number {len(trials)}, got {number}")
    if repeats is not None and not _is_at(find_trial(trials, repeats), event):
        raise ValueError(f"trial {number} must be at the point of trial {repeats} to repeat it")
    is_asked = event["event"] == "ask"
    return Trial(
        number,
        dict(event["params"]),
        state="queued" if event["event"] == "enqueue" else "pending",
        origin=event.get("origin", "user"),
        reason=event.get("reason", None if repeats is None else REMEASURE) if event["event"] in BEGIN else None,
        repeats=repeats,
        **expectation_fields(event),
        fallback=event.get("fallback"),
        asked_by=event.get("by") if is_asked else None,
        asked_at=time_of(event) if is_asked else None,
        handouts=int(is_asked),
        sources=dict(event.get("source", {})),
        labels=dict(event.get("labels", {})),
        elsewhere=dict(event.get("elsewhere", {})) if is_asked else {},
    )


def _is_at(first: Trial, event: Event) -> bool:
    """Return whether an event is at the point of a trial; what is told, wherever it was measured."""
    return event["event"] in ("tell", "fail") or event["params"] in (first.params, first.target)


def _with(trial: Trial, **changes: Any) -> Trial:
    """A trial changed, as by `dataclasses.replace` in half the time."""
    return Trial(**{**vars(trial), **changes})


def _change(trials: Sequence[Trial] | Draft, trial: Trial, event: Event) -> Trial:
    match event["event"]:
        case "assign":
            count = trial.handouts + 1
            handout = {"handouts": count, "asked_by": event.get("by"), "asked_at": time_of(event)}
            return _with(trial, state="pending", **handout, sources=dict(event.get("source", {})))
        case "requeue":
            sources = dict(event.get("source", {}))  # in old journals none: whoever is given it next says
            return _with(trial, state="queued", reason=_ask_reason(trials, trial), sources=sources)
        case "tell":
            end, reason = end_fields(trials, trial, event), _ask_reason(trials, trial)
            return _with(trial, state="told", reason=reason, **end, **value_fields(trial, event))
        case "withdraw":
            end = end_fields(trials, trial, event) if trial.is_open else {}
            return _with(trial, state="withdrawn", reason=event.get("reason"), retry=None, **end)
        case "fail":
            end = end_fields(trials, trial, event) if trial.state != "failed" else {}
            return _with(trial, state="failed", reason=event["reason"], retry=event.get("retry"), **end)
        case "exclude" if "outcome" in event:
            return _with(trial, outcomes=judge_outcomes(trial, event, is_excluded=True))
        case "exclude":
            outcomes = {name: replace(outcome, is_vouched=False) for name, outcome in trial.outcomes.items()}
            new = _with(trial, state="excluded", outcomes=outcomes, is_vouched=False, note=event.get("reason"))
            return _with(new, is_source_excluded=False)
        case "include" if "outcome" in event:
            return _with(trial, outcomes=judge_outcomes(trial, event, is_excluded=False))
        case "include":
            has = vouches(event)
            outcomes = {name: include_outcome(outcome, has=has) for name, outcome in trial.outcomes.items()}
            new = _with(trial, state="told", is_source_excluded=False, **NO_EXPECTATION, outcomes=outcomes)
            return _with(new, is_vouched=has and not outcomes, note=event.get("reason"))
        case "amend" if event.get(UNCHANGED):
            return _with(trial, **origin_fields(trial, event))
        case "amend":
            return _amend(trials, trial, event)
    raise AssertionError(event)


def _amend(trials: Sequence[Trial] | Draft, trial: Trial, event: Event) -> Trial:
    state = "excluded" if trial.state == "excluded" else "told"
    note = event.get("reason", trial.note if trial.state == "excluded" else None)
    former = (*trial.former_values, raw) if (raw := trial.raw_value) is not None else trial.former_values
    new = _with(trial, state=state, reason=_ask_reason(trials, trial), retry=None, **NO_EXPECTATION, note=note)
    new = _with(new, former_values=former, **origin_fields(trial, event))
    return _with(new, is_vouched=False, as_told=None, **value_fields(trial, event, is_amended=True))


def _ask_reason(trials: Sequence[Trial] | Draft, trial: Trial) -> str | None:
    """The reason why a trial was asked for; of one that has failed or is withdrawn, as far as that reason is known."""
    if trial.state not in ("failed", "withdrawn"):
        return trial.reason
    if trial.repeats is None:
        return None
    return RETRY if trials[trial.repeats].state == "failed" else REMEASURE
