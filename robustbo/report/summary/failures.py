"""The trials that gave no value, as plain values: what each looks like."""

from typing import Any

from robustbo.loop.feasibility import report as judging
from robustbo.loop.feasibility.report import Failure, flake_rate
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def failed(settings: Settings, history: History, fits: FitCache) -> dict[str, Any]:
    """What an overview has of failed trials, as plain JSON values; nothing where none has failed.

    Returns:
        ``failed``, an object a trial (``log_odds_nats`` is None where the user has said what it was), and ``failures``,
        how many look like what.
    """
    if not (found := failures(settings, history, fits)):
        return {"failed": []}
    counts = {look: sum(failure.looks_like == look for failure in found) for look in ("region", "flake")}
    is_judged = all(failure.looks_like for failure in found)
    rate = flake_rate(settings, history, fits) if is_judged and settings.failures == "learn" else None
    more = {"count": len(found), "flake_rate": rate, "asks_keep_away": keeps_away(settings)}
    return {"failed": [_plain(failure) for failure in found], "failures": counts | more}


def failures(settings: Settings, history: History, fits: FitCache | None) -> list[Failure]:
    """Every failed trial, judged where the study learns from them."""
    return judging.failures(settings, history, fits, is_judged=settings.failures == "learn")


def keeps_away(settings: Settings) -> bool:
    """Whether asks stay away from where trials fail."""
    return settings.failures == "learn" and settings.acquisition != "sobol"


def _plain(failure: Failure) -> dict[str, Any]:
    trial, is_said = failure.trial, failure.trial.retry is not None
    made = {"trial": trial.number, "params": trial.params, "reason": trial.reason, "looks_like": failure.looks_like}
    odds = None if is_said or failure.looks_like is None else failure.log_odds
    return made | {"log_odds_nats": odds, "retry": trial.retry, "again": failure.again}
