"""A front, and points, in words."""

from collections.abc import Mapping
from typing import Any

from robustbo.report.summary.heading import Name
from robustbo.rounding import format_number

Plain = dict[str, Any]
COLUMNS = ("trial", "at", "keeps bounds", "on the front")  # columns of a front's table


def title(front: Plain) -> str:
    """A sentence on a front, above its table.

    Args:
        front: Of an overview.
    """
    count, beyond = len(front["points"]), numbers_by_name(front["reference_point"])
    if not count:
        return "the front is empty: no point measured probably keeps the bounds"
    points = f"{count} points" if count > 1 else "1 point"
    return f"the front: {points}, hypervolume {format_number(front['hypervolume'], 4)} beyond {beyond}"


def rows(front: Plain, labels: Mapping[str, str] | None = None, *, is_plain: bool = False) -> list[Plain]:
    """A front as a table's rows: means with their standard deviations, or (plain) a column each.

    Outcomes are headed by their labels, where these are given.

    The probabilities are those of keeping the bounds, where a point may break them, and of being on the front.
    """
    points, table = front["points"], list[Plain]()
    is_bounded = is_plain or any(point["probability_feasible"] < 1 for point in points)
    for point in points:
        row: Plain = {"trial": point["trial"]}
        for name, posterior in point["outcomes"].items():
            label = (labels or {}).get(name, name)
            column = Name(f"outcome {label}" if name in COLUMNS else label)
            if is_plain:
                row |= {column: posterior["mean"], f"{column}.sd": posterior["sd"]}
            else:
                row[column] = f"{format_number(posterior['mean'], 4, posterior['sd'])} (sd {posterior['sd']:.2g})"
        row |= {"keeps bounds": _chance(point["probability_feasible"], is_plain)} if is_bounded else {}
        row["on the front"] = _chance(point["probability"], is_plain)
        table.append(row | (_parameters(point["params"], row) if is_plain else {"at": brief(point["params"])}))
    return table


def _parameters(params: Mapping[str, Any], row: Mapping[str, Any]) -> Plain:
    """Columns of parameters, beside those that a row has already."""
    return {f"params.{name}" if name in row else name: value for name, value in params.items()}


def _chance(probability: float, is_plain: bool) -> float | str:
    return probability if is_plain else f"{100 * probability:.3g} %"


def numbers_by_name(numbers: Mapping[str, float]) -> str:
    """Numbers by outcome, in a line."""
    return ", ".join(f"{name} {format_number(number)}" for name, number in numbers.items())


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
