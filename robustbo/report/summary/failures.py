"""The trials that gave no value, as plain values: what each looks like."""

from typing import Any

from robustbo.loop.feasibility.report import Failure
from robustbo.report.summary.names import labels_part
from robustbo.trials.settings import Settings
from robustbo.view.view import View


def failure_values(view: View) -> dict[str, Any]:
    """The part of an overview on failed trials, as plain JSON values.

    Returns:
        ``failed``, an object a trial (``log_odds_nats`` is None where the user has said what it was), and, where one
        has failed, ``failures``, how many look like what.
    """
    if not (failures := failures_of(view)):
        return {"failed": []}
    counts = {look: sum(failure.looks_like == look for failure in failures) for look in ("region", "flake")}
    is_judged = all(failure.looks_like for failure in failures)
    rate = view.flake_rate() if is_judged and view.settings.failures == "learn" else None
    rest = {"count": len(failures), "flake_rate": rate, "asks_keep_away": keeps_away(view.settings)}
    return {"failed": [_values(failure) for failure in failures], "failures": counts | rest}


def failures_of(view: View) -> list[Failure]:
    """Every failed trial, judged where the study learns from them."""
    return view.failures(is_judged=view.settings.failures == "learn")


def keeps_away(settings: Settings) -> bool:
    """Return whether asks stay away from where trials fail."""
    return settings.failures == "learn" and settings.acquisition != "sobol"


def _values(failure: Failure) -> dict[str, Any]:
    trial, is_settled = failure.trial, failure.trial.retry is not None
    values = {"trial": trial.number, "params": trial.params, "reason": trial.reason, "looks_like": failure.looks_like}
    values |= labels_part(trial)
    odds = None if is_settled or failure.looks_like is None else failure.log_odds
    return values | {"log_odds_nats": odds, "retry": trial.retry, "again": failure.again}
