"""Quantities of the values of an overview: names, units and possible ranges, as far as these are said."""

from typing import Any

from robustbo.trials.outcome import Outcome


def quantity(overview: dict[str, Any], name: str | None = None) -> Outcome:
    """The quantity that a value is of.

    Args:
        overview: Of an optimization.
        name: Which of several outcomes; None where there is one.
    """
    outcomes = [outcome for outcome in overview.get("outcome", ()) if name is None or outcome["name"] == name]
    return Outcome.from_dict(outcomes[0]) if outcomes else Outcome(name or "")
