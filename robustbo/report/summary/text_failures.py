"""The trials that gave no value, in words: what each looks like, and what asking again has given."""

from collections.abc import Sequence
from typing import Any

from robustbo.trials.identity import in_a_line
from robustbo.trials.trial import FAILURE_VERDICTS

LOOKS = {"region": "looks like its region", "flake": "looks like a flake", None: "not judged"}
AGAIN = {"told": "gave a value", "failed": "failed too", "pending": "under way", None: "-"}
NONE_GIVEN = "none was given"
ODDS = "log odds of a flake, nats"


def lead(failures: dict[str, Any]) -> str:
    """The number of failed trials, and what they look like, in a sentence.

    Args:
        failures: Of an overview.
    """
    regions, flakes, rate, count = failures["region"], failures["flake"], failures["flake_rate"], failures["count"]
    if regions + flakes < count:
        text = f"{count} {'trial' if count == 1 else 'trials'} failed"
    elif count == 1:
        text = f"1 trial failed: it {LOOKS['region'] if regions else LOOKS['flake']}"
    elif regions and flakes:
        text = f"{count} trials failed: {_count_text(regions)}, {flakes} like {_flakes(flakes)}"
    else:
        text = f"{count} trials failed: all look like {'their region' if regions else 'flakes'}"
    learned = "" if rate is None else f"; about {100 * rate:.2g} % of trials die by a flake, as it seems"
    return text + learned + ("" if failures["asks_keep_away"] else "; asks do not keep away from them")


def _count_text(count: int) -> str:
    return f"{count} look like their region" if count > 1 else "1 looks like its region"


def _flakes(count: int) -> str:
    return "flakes" if count > 1 else "a flake"


def verdict(trial: dict[str, Any]) -> str:
    """The look of a failed trial, or what the user has said that it is, in words."""
    return LOOKS[trial["looks_like"]] if trial["retry"] is None else FAILURE_VERDICTS[trial["retry"]]


def rows(trials: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Failed trials of an overview as a table's rows, except for where they were."""
    return [
        {"trial": trial["trial"], "verdict": verdict(trial), ODDS: trial["log_odds_nats"]}
        | {"asked again": AGAIN[trial["again"]], "reason": in_a_line(trial["reason"]) or NONE_GIVEN}
        for trial in trials
    ]
