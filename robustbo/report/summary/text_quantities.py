"""What the values of an overview are of: their names, units and possible ranges, as far as these are said."""

from typing import Any

from robustbo.trials.outcome import Outcome


def quantity(found: dict[str, Any], name: str | None = None) -> Outcome:
    """What a value is of.

    Args:
        found: The overview.
        name: Which of several outcomes; None where there is one.
    """
    said = [each for each in found.get("outcome", ()) if name is None or each["name"] == name]
    return Outcome.from_dict(said[0]) if said else Outcome(name or "")
