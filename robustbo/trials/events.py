"""What each event does to the trials: the only place that knows which events a trial allows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from robustbo.trials.storage.line import Event
from robustbo.trials.trial import OPEN, REMEASURE, RETRY, Diagnosis, Trial

BEGIN = ("ask", "enqueue")  # the events that begin a trial without ending it
ALLOWED_STATES = {
    "assign": ("queued",),
    "requeue": ("pending",),
    "tell": OPEN,
    "fail": OPEN,
    "exclude": ("told",),
    "include": ("excluded",),
    "amend": ("told", "excluded", "failed"),
}
ADVICE = {
    "told": "use amend to correct its value, or exclude to leave it out",
    "excluded": "use include to take the exclusion back",
    "failed": "use amend to give it a value, or fail with retry to say whether it was a flake",
    "pending": "use tell or fail to end it",
    "queued": "the next ask gives it out; use tell or fail to end it",
}


def known(trials: Sequence[Trial], number: int) -> Trial:
    """The trial of that number among all so far.

    Raises:
        ValueError: If there is none.
    """
    if not 0 <= number < len(trials):
        raise ValueError(f"trial must be one of the {len(trials)} trials so far (0, 1, ...), got {number}")
    return trials[number]


def fold(trials: list[Trial], event: Event) -> None:
    """Change the trials by an event."""
    kind, number = event["event"], event["trial"]
    if kind in BEGIN or (kind in ("tell", "fail") and "params" in event):
        trials.append(_begun(trials, event))
        if kind not in BEGIN:
            trials[number] = _changed(trials, trials[number], event)
        return
    if kind not in ALLOWED_STATES:
        raise ValueError(f"event must be one of {[*BEGIN, *ALLOWED_STATES]}, got {kind!r}")
    trial = known(trials, number)
    is_verdict = kind == "fail" and "retry" in event and trial.state == "failed"
    if trial.state not in ALLOWED_STATES[kind] and not is_verdict:
        allowed = " or ".join(ALLOWED_STATES[kind])
        raise ValueError(f"trial {number} must be {allowed} to {kind} it, it is {trial.state}; {ADVICE[trial.state]}")
    trials[number] = _changed(trials, trial, event)


def _begun(trials: Sequence[Trial], event: Event) -> Trial:
    number, repeats = event["trial"], event.get("repeats")
    if number != len(trials):
        raise ValueError(f"the next trial must be number {len(trials)}, got {number}")
    if repeats is not None and known(trials, repeats).params != event["params"]:
        raise ValueError(f"trial {number} must be at the point of trial {repeats} to repeat it")
    is_asked = event["event"] == "ask"
    return Trial(
        number,
        dict(event["params"]),
        state="queued" if event["event"] == "enqueue" else "pending",
        origin=event.get("origin", "user"),
        reason=event.get("reason", None if repeats is None else REMEASURE) if event["event"] in BEGIN else None,
        repeats=repeats,
        expected=event.get("expected"),
        expected_sd=event.get("expected_sd"),
        fallback=event.get("fallback"),
        asked_by=event.get("by") if is_asked else None,
        asked_at=_when(event) if is_asked else None,
        handouts=int(is_asked),
    )


def _when(event: Event) -> datetime | None:
    at = event.get("at")
    return None if at is None else datetime.fromisoformat(at)


def _with(trial: Trial, **changes: Any) -> Trial:
    """A trial changed, as by `dataclasses.replace` in half the time."""
    return Trial(**{**vars(trial), **changes})


def _changed(trials: Sequence[Trial], trial: Trial, event: Event) -> Trial:
    match event["event"]:
        case "assign":
            count = trial.handouts + 1
            return _with(trial, state="pending", handouts=count, asked_by=event.get("by"), asked_at=_when(event))
        case "requeue":
            return _with(trial, state="queued")
        case "tell":
            return _with(trial, state="told", value=event["value"], sd=event["sd"])
        case "fail":
            return _with(trial, state="failed", reason=event["reason"], retry=event.get("retry"))
        case "exclude":
            return _with(trial, state="excluded")
        case "include":
            return _with(trial, state="told", expected=None, expected_sd=None)
        case "amend":
            state = "excluded" if trial.state == "excluded" else "told"
            reason = _asked_for(trials, trial) if trial.state == "failed" else trial.reason
            new = _with(trial, state=state, value=event["value"], sd=event["sd"], reason=reason)
            return _with(new, expected=None, expected_sd=None, retry=None)
    raise AssertionError(event)


def _asked_for(trials: Sequence[Trial], trial: Trial) -> str | None:
    """Why a trial that has failed was asked for, as far as its reason does not hide it."""
    if trial.repeats is None:
        return None
    return RETRY if trials[trial.repeats].state == "failed" else REMEASURE


def diagnosis_of(event: Event) -> Diagnosis:
    outliers, percentiles = (tuple(event[key]) for key in ("outliers", "percentiles"))
    return Diagnosis(event["trial"], event["observations"], outliers, percentiles, event["void"])
