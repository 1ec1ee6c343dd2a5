"""The trials that gave no value, in words and marks: what each looks like, and what asking again has given."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from robustbo.errors import FitError
from robustbo.loop import failures as judging
from robustbo.loop.cache import FitCache
from robustbo.loop.failures import Failure, flake_rate
from robustbo.report.chart import Dots
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.trial import SAID, in_a_line

LOOKS = {"region": "looks like its region", "flake": "looks like a flake", None: "not judged"}
AGAIN = {"told": "gave a value", "failed": "failed too", "pending": "under way", None: "-"}
COLORS = {"region": "#000000", "flake": "#999999", None: "#000000"}  # of ticks
NONE_GIVEN = "none was given"
ODDS = "log odds of a flake, nats"


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
    try:
        return judging.failures(settings, history, fits, is_judged=settings.failures == "learn")
    except FitError:
        return judging.failures(settings, history, fits, is_judged=False)


def keeps_away(settings: Settings) -> bool:
    """Whether asks stay away from where trials fail."""
    return settings.failures == "learn" and settings.acquisition != "sobol"


def _plain(failure: Failure) -> dict[str, Any]:
    trial, is_said = failure.trial, failure.trial.retry is not None
    made = {"trial": trial.number, "params": trial.params, "reason": trial.reason, "looks_like": failure.looks_like}
    odds = None if is_said or failure.looks_like is None else failure.log_odds
    return made | {"log_odds_nats": odds, "retry": trial.retry, "again": failure.again}


def lead(found: dict[str, Any]) -> str:
    """How many have failed, and what they look like, in a sentence.

    Args:
        found: The ``failures`` of an overview.
    """
    regions, flakes, rate, count = found["region"], found["flake"], found["flake_rate"], found["count"]
    if regions + flakes < count:
        said = f"{count} {'trial' if count == 1 else 'trials'} failed"
    elif count == 1:
        said = f"1 trial failed: it {LOOKS['region'] if regions else LOOKS['flake']}"
    elif regions and flakes:
        said = f"{count} trials failed: {_looking(regions, 'their region')}, {flakes} like {_flakes(flakes)}"
    else:
        said = f"{count} trials failed: all look like {'their region' if regions else 'flakes'}"
    learned = "" if rate is None else f"; about {100 * rate:.2g} % of trials die by a flake, as it seems"
    return said + learned + ("" if found["asks_keep_away"] else "; asks do not keep away from them")


def _looking(count: int, what: str) -> str:
    return f"{count} look like {what}" if count > 1 else "1 looks like its region"


def _flakes(count: int) -> str:
    return "flakes" if count > 1 else "a flake"


def verdict(trial: dict[str, Any]) -> str:
    """What a failed trial looks like, or was said to be."""
    return LOOKS[trial["looks_like"]] if trial["retry"] is None else SAID[trial["retry"]]


def rows(trials: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Failed trials of an overview as a table's rows, but for where they were."""
    return [
        {"trial": trial["trial"], "verdict": verdict(trial), ODDS: trial["log_odds_nats"]}
        | {"asked again": AGAIN[trial["again"]], "reason": in_a_line(trial["reason"]) or NONE_GIVEN}
        for trial in trials
    ]


def marks(found: Sequence[Failure], x: Sequence[float], y: float) -> list[Dots]:
    """Ticks at the places of failed trials: black of those that look like their region, gray of flakes."""
    made = []
    for look, color in COLORS.items():
        at = np.array([place for failure, place in zip(found, x, strict=True) if failure.looks_like == look])
        if len(at):
            made.append(Dots(f"failed, {LOOKS[look]}", "none", color, at, np.full(len(at), y), shape="|", size=6.0))
    return made
