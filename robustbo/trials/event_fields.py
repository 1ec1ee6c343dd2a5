"""Entries of an event as fields of its trial: its end, its origin, and its values with their verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from robustbo.censored import from_json
from robustbo.trials.noise import ValueNoise
from robustbo.trials.storage.line import Event
from robustbo.trials.tree import Draft
from robustbo.trials.trial import EXPECTATION, EXPECTED_ERROR, Measured, Trial

NO_EXPECTATION: dict[str, Any] = dict.fromkeys((*EXPECTATION, *EXPECTED_ERROR))


def expectation_fields(event: Event) -> dict[str, Any]:
    """The prediction of the value, or of each outcome."""
    fields = {key: event.get(key) for key in NO_EXPECTATION}
    if not isinstance(fields["expected"], Mapping):
        return fields
    by_name: dict[str, dict[str, Any]] = {
        name: {key: (of or {}).get(name) for key, of in fields.items()} for name in fields["expected"]
    }
    return {"outcomes": {name: Measured(**expectation) for name, expectation in by_name.items()}}


def _place_fields(trial: Trial, event: Event) -> dict[str, Any]:
    """The point of a trial that was asked for, where it was measured at another."""
    if "params" not in event or event["params"] == trial.params:
        return {}
    return {"params": dict(event["params"]), "target": trial.target_params}


def time_of(event: Event, key: str = "at") -> datetime | None:
    """A time of an event; None where it has none."""
    at = event.get(key)
    return None if at is None else datetime.fromisoformat(at)


def end_fields(trials: Sequence[Trial] | Draft, trial: Trial, event: Event) -> dict[str, Any]:
    """The end of a trial: who told it, when, its place in the order, and its sources, as asked for unless told."""
    order = trials.num_ended if isinstance(trials, Draft) else None
    told = {"order": order, "told_by": event.get("by"), "told_at": time_of(event)}
    told |= _place_fields(trial, event) | origin_fields(trial, event)
    return told | ({"measured_at": time_of(event, "measured_at")} if "measured_at" in event else {})


def origin_fields(trial: Trial, event: Event) -> dict[str, Any]:
    """The sources and labels of a trial, with those that an event says beside them, or in their place."""
    sources = {**trial.sources, **event.get("source", {})}
    return {"sources": sources, "labels": {**trial.labels, **event.get("labels", {})}}


def vouches(event: Event) -> bool:
    """Return whether an inclusion vouches for the value; in old journals it only took an exclusion back."""
    return bool(event.get("vouch", False))


def value_fields(trial: Trial, event: Event, *, is_amended: bool = False) -> dict[str, Any]:
    """The value of an event, or those of several outcomes beside what is known of others."""
    value, sd = event["value"], event["sd"]
    if not isinstance(value, Mapping):
        return {"value": from_json(value), **ValueNoise.of(sd)._asdict()}
    outcomes = dict(trial.outcomes)
    for name, number in value.items():
        before = outcomes.get(name, Measured())
        if is_amended:
            before = Measured(is_excluded=before.is_excluded, note=before.note if before.is_excluded else None)
        of_value = ValueNoise.of((sd or {}).get(name))
        outcomes[name] = replace(before, value=from_json(number), sd=of_value.sd, n=of_value.n, is_lost=False)
    lost, reasons = event.get("lost", ()), event.get("reasons", {})
    outcomes |= {n: replace(outcomes.get(n, Measured()), is_lost=True, reason=reasons.get(n)) for n in lost}
    return {"outcomes": outcomes}


def include_outcome(outcome: Measured, *, has: bool) -> Measured:
    """An outcome where its trial is included; where that ``has`` a word for its values, it is no more excluded."""
    if has and outcome.value is not None:
        return Measured(outcome.value, outcome.sd, is_vouched=True, n=outcome.n)
    return replace(outcome, **NO_EXPECTATION, is_vouched=False)


def judge_outcomes(trial: Trial, event: Event, *, is_excluded: bool) -> dict[str, Measured]:
    """The outcomes where one of them is excluded, or is no more, by the user's word."""
    name, is_vouched, note = event["outcome"], vouches(event), event.get("reason")
    outcome = trial.outcomes.get(name, Measured())
    has_no_effect = (
        outcome.is_excluded if is_excluded else not (is_vouched or outcome.is_excluded or outcome.is_vouched)
    )
    if outcome.value is None or has_no_effect:
        kind = "exclude" if is_excluded else "include"
        standing = "missing" if outcome.value is None else "excluded already" if is_excluded else "not excluded"
        must = "excluded" if standing == "not excluded" else "told"
        raise ValueError(f"{name!r} of trial {trial.number} must be {must} to {kind} it, it is {standing}")
    word = Measured(outcome.value, outcome.sd, is_vouched=is_vouched, note=note, n=outcome.n)
    changed = replace(outcome, is_excluded=True, is_vouched=False, note=note) if is_excluded else word
    return {**trial.outcomes, name: changed}
