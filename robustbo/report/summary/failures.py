"""The trials that gave no value, as plain values and as marks: what each looks like."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from robustbo.loop.feasibility import report as judging
from robustbo.loop.feasibility.report import Failure, flake_rate
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts.chart import Dots
from robustbo.report.summary.text_failures import LOOKS, NONE_GIVEN
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.trial import in_a_line

COLORS = {"region": "#000000", "flake": "#999999", None: "#000000"}  # of ticks


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


def marks(found: Sequence[Failure], x: Sequence[float], y: float) -> list[Dots]:
    """Ticks at the places of failed trials: black of those that look like their region, gray of flakes."""
    made = []
    for look, color in COLORS.items():
        these = [(place, failure.trial) for failure, place in zip(found, x, strict=True) if failure.looks_like == look]
        if these:
            at, label = np.array([place for place, _ in these]), f"failed, {LOOKS[look]}"
            titles = [f"trial {t.number}: {label}: {in_a_line(t.reason) or NONE_GIVEN}" for _, t in these]
            made.append(Dots(label, "none", color, at, np.full(len(at), y), "|", 6.0, titles=titles))
    return made
