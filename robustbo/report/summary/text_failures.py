"""The trials that gave no value, in words: what each looks like, and what asking again has given."""

from collections.abc import Sequence
from typing import Any

from robustbo.trials.trial import SAID, in_a_line

LOOKS = {"region": "looks like its region", "flake": "looks like a flake", None: "not judged"}
AGAIN = {"told": "gave a value", "failed": "failed too", "pending": "under way", None: "-"}
NONE_GIVEN = "none was given"
ODDS = "log odds of a flake, nats"


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
