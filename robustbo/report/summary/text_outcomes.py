"""A front, and points, in words."""

from collections.abc import Mapping
from typing import Any

from robustbo.rounding import rounded

Plain = dict[str, Any]
TAKEN = ("trial", "at", "keeps bounds", "on the front")  # columns of a front's table


def title(found: Plain) -> str:
    """What a front is, above its table.

    Args:
        found: The `front` of an overview.
    """
    count, beyond = len(found["points"]), values(found["reference_point"])
    if not count:
        return "the front is empty: no point measured probably keeps the bounds"
    points = f"{count} points" if count > 1 else "1 point"
    return f"the front: {points}, hypervolume {rounded(found['hypervolume'], 4)} beyond {beyond}"


def rows(found: Plain, labels: Mapping[str, str] | None = None, *, is_plain: bool = False) -> list[Plain]:
    """A front as a table's rows: means with their standard deviations, or (plain) a column each.

    Outcomes are headed by their labels, where these are given.

    The probabilities are those of keeping the bounds, where a point may break them, and of being on the front.
    """
    points, made = found["points"], list[Plain]()
    is_bounded = is_plain or any(each["probability_feasible"] < 1 for each in points)
    for each in points:
        row: Plain = {"trial": each["trial"]}
        for name, said in each["outcomes"].items():
            label = (labels or {}).get(name, name)
            column = f"outcome {label}" if name in TAKEN else label
            if is_plain:
                row |= {column: said["mean"], f"{column}.sd": said["sd"]}
            else:
                row[column] = f"{rounded(said['mean'], 4)} (sd {said['sd']:.2g})"
        row |= {"keeps bounds": _chance(each["probability_feasible"], is_plain)} if is_bounded else {}
        row["on the front"] = _chance(each["probability"], is_plain)
        made.append(row | (_columns(each["params"], row) if is_plain else {"at": brief(each["params"])}))
    return made


def _columns(params: Mapping[str, Any], taken: Mapping[str, Any]) -> Plain:
    return {f"params.{name}" if name in taken else name: value for name, value in params.items()}


def _chance(probability: float, is_plain: bool) -> float | str:
    return probability if is_plain else f"{100 * probability:.3g} %"


def values(found: Mapping[str, float]) -> str:
    """Numbers by outcome, in a line."""
    return ", ".join(f"{name} {rounded(number)}" for name, number in found.items())


def place_of(params: Mapping[str, Any]) -> str:
    """A point in a line, with all its digits."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items())


def brief(params: Mapping[str, Any], digits: int = 6) -> str:
    """A point in a line, in few digits."""
    return ", ".join(f"{name}={short(value, digits)}" for name, value in params.items())


def short(value: Any, digits: int = 6) -> str:
    """A parameter's value in few digits.

    Example:
        >>> short(0.123456789), short("water"), short(True), short(12)
        ('0.123457', 'water', 'True', '12')
    """
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
