"""Trials as plain JSON values, as programs get them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from robustbo.censored import to_json
from robustbo.serve.served import stamp
from robustbo.trials.history import Trial
from robustbo.trials.trial import Measured


def trial_values(trial: Trial) -> dict[str, Any]:
    """A trial; what is not known of it is None, and several outcomes are by their names."""
    measured = {name: _measured_values(of) for name, of in trial.outcomes.items() if of.value is not None}
    return {
        "trial": trial.number,
        "state": trial.state,
        "params": trial.target_params,
        **({"measured_at_params": trial.params} if trial.target is not None else {}),
        **({"outcomes": measured} if trial.outcomes else _measured_values(trial)),
        "reason": trial.reason,
        "note": trial.note,
        "repeats": trial.repeats,
        "origin": trial.origin,
        "source": trial.sources,
        "labels": trial.labels,
        "asked_by": trial.asked_by,
        "asked_at": _iso(trial.asked_at),
        "recorded_at": _iso(trial.told_at),
        "seen": stamp(trial),
    }


def _measured_values(measured: Trial | Measured) -> dict[str, Any]:
    value = None if measured.value is None else to_json(measured.value)
    return {"value": value, "sd": measured.sd, "n": measured.n, "vouched_for": measured.is_vouched}


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
