"""A space for libraries without logarithmic scales or integers: floats are their unit coordinates, integers lists."""

from typing import Any

from benchmarks.league.server.base import Point
from benchmarks.league.server.box import place_of, value_at

MOST = 1000  # values of a list; an integer with more is a number that is rounded


def is_number(parameter: dict[str, Any]) -> bool:
    """Return whether a parameter is a coordinate of [0, 1]."""
    if "values" in parameter:
        return False
    has_many = parameter["kind"] != "int" or parameter["high"] - parameter["low"] >= MOST
    return bool(parameter.get("log")) or has_many


def values_of(parameter: dict[str, Any]) -> list[Any]:
    """The values of a parameter that is none: those of a list, or of an integer in order."""
    if "values" in parameter:
        return list(parameter["values"])
    return list(range(parameter["low"], parameter["high"] + 1, parameter.get("step") or 1))


def is_ordered(parameter: dict[str, Any]) -> bool:
    """Return whether the values have an order."""
    return parameter["kind"] != "choice"


def encode(space: dict[str, dict[str, Any]], point: Point) -> Point:
    """A point with coordinates for numbers, ranks for ordered values, and words for choices."""
    return {name: _encode(parameter, point[name]) for name, parameter in space.items()}


def decode(space: dict[str, dict[str, Any]], row: Any) -> Point:
    """The point of coordinates, ranks and words."""
    return {name: _decode(parameter, row[name]) for name, parameter in space.items()}


def _encode(parameter: dict[str, Any], value: Any) -> Any:
    if is_number(parameter):
        return place_of(parameter, value)
    rank = values_of(parameter).index(value)
    return float(rank) if is_ordered(parameter) else word(rank)


def _decode(parameter: dict[str, Any], value: Any) -> Any:
    if is_number(parameter):
        return value_at(parameter, min(1.0, max(0.0, float(value))))
    return values_of(parameter)[round(float(value)) if is_ordered(parameter) else int(str(value)[1:])]


def word(rank: int) -> str:
    """A word for the value of that rank of a choice."""
    return f"c{rank}"


def linear(space: dict[str, dict[str, Any]], constraints: list[Any]) -> list[tuple[dict[str, float], float]]:
    """Constraints as coefficients of coordinates by name, and the bound that their sum must not exceed.

    Raises:
        NotImplementedError: If one is of a parameter that is no number on a plain scale.
    """
    inequalities = []
    for coefficients, constant in constraints:
        row, bound = {}, -constant
        for name, a in coefficients.items():
            parameter = space[name]
            if not is_number(parameter) or parameter.get("log"):
                raise NotImplementedError(f"a constraint of {name}, which is no number on a plain scale")
            row[name] = a * (parameter["high"] - parameter["low"])
            bound -= a * parameter["low"]
        inequalities.append((row, bound))
    return inequalities


def bounds(
    space: dict[str, dict[str, Any]], constraints: list[Any]
) -> tuple[dict[str, tuple[float, float]], list[tuple[dict[str, float], float]]]:
    """The bounds of all coordinates that are numbers, and the inequalities of more than one; raises as `linear`."""
    intervals = {name: (0.0, 1.0) for name, parameter in space.items() if is_number(parameter)}
    inequalities = []
    for row, bound in linear(space, constraints):
        if len(row) > 1:
            inequalities.append((row, bound))
            continue
        ((name, a),) = row.items()
        low, high = intervals[name]
        intervals[name] = (low, min(high, bound / a)) if a > 0 else (max(low, bound / a), high)
    return intervals, inequalities
