"""Events of a cell's record: a trial, and what was said of all values after the last."""

from collections.abc import Mapping, Sequence
from typing import Any

from robustbo.replay.cells.recommendation import Flagged, Recommended


def outcome_names(entry: Mapping[str, Any]) -> set[str] | None:
    """The outcomes that a trial's record tells of by name; None of a single value, an empty set if its parts differ."""
    if isinstance(entry["clean"], dict):
        is_whole = (entry["value"] is None or isinstance(entry["value"], dict)) and isinstance(entry["corrupted"], list)
        return set(entry["clean"]) if is_whole else set()
    parts = (entry["value"], entry["corrupted"], entry["recommended"])
    return set() if any(isinstance(part, dict | list) for part in parts) else None


def trial_event(number: int, clean: Any, value: Any, wrong: Any, recommended: Recommended) -> dict[str, Any]:
    """Event of a trial in the record."""
    measured = {"event": "trial", "trial": number, "clean": clean, "value": value, "corrupted": wrong}
    return measured | {"recommended": recommended}


def flags_event(after: int, trials: Flagged, sources: Sequence[str] | None = None) -> dict[str, Any]:
    """Event at the end of the record: the trials whose values were flagged, and the sources in doubt where told.

    Args:
        after: How many trials there were.
        trials: Those that were flagged.
        sources: The labels of the sources in doubt; None where the method is told of none.
    """
    event = {"event": "flags", "after": after, "trials": trials}
    return event if sources is None else event | {"sources": [*sources]}
