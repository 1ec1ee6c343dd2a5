"""A space as a box of numbers, for libraries that know nothing else: the unit cube, one-hot for choices.

Floats and integers lie on their scale (the logarithm where it is one), an ordered list at the places of its ranks, and
a choice of k values has k coordinates, of which the largest counts. Conditions are left out: all parameters exist.
"""

import math
import random
from typing import Any

Row = list[float]


class Box:
    """The unit cube of a space.

    Args:
        space: Parameters by name, as the message "begin" has them.

    Attributes:
        dim: Its dimensions.
        blocks: The first coordinate and the number of coordinates of each choice.
    """

    def __init__(self, space: dict[str, dict[str, Any]]) -> None:
        self._space = space
        self._widths = [len(p["values"]) if p["kind"] == "choice" else 1 for p in space.values()]
        self.dim = sum(self._widths)
        starts = [sum(self._widths[:i]) for i in range(len(self._widths))]
        self._starts = dict(zip(space, starts, strict=True))
        self.blocks = [(at, width) for at, width in zip(starts, self._widths, strict=True) if width > 1]

    def point(self, row: Any) -> dict[str, Any]:
        """The point at coordinates."""
        values = {}
        for (name, parameter), width in zip(self._space.items(), self._widths, strict=True):
            at = self._starts[name]
            u = [min(1.0, max(0.0, float(x))) for x in row[at : at + width]]
            values[name] = parameter["values"][u.index(max(u))] if width > 1 else value_at(parameter, u[0])
        return values

    def row(self, point: dict[str, Any]) -> Row:
        """The coordinates of a point."""
        row: Row = []
        for (name, parameter), width in zip(self._space.items(), self._widths, strict=True):
            if width > 1:
                row += [float(value == point[name]) for value in parameter["values"]]
            else:
                row.append(place_of(parameter, point[name]))
        return row

    def linear(self, constraints: list[Any]) -> list[tuple[Row, float]]:
        """Constraints as rows of coefficients of the coordinates, and constants; their sum is at most 0.

        Raises:
            NotImplementedError: If one is of a parameter that is not a number on a plain scale.
        """
        rows = []
        for coefficients, constant in constraints:
            row = [0.0] * self.dim
            for name, a in coefficients.items():
                parameter = self._space[name]
                if parameter["kind"] not in ("float", "int") or parameter.get("log"):
                    raise NotImplementedError(f"a constraint of {name}, which is no number on a plain scale")
                row[self._starts[name]] = a * (parameter["high"] - parameter["low"])
                constant += a * parameter["low"]
            rows.append((row, constant))
        return rows


def value_at(parameter: dict[str, Any], u: float) -> Any:
    """The value of a parameter at a coordinate of the unit interval."""
    if "values" in parameter:
        return parameter["values"][min(int(u * len(parameter["values"])), len(parameter["values"]) - 1)]
    low, high = parameter["low"], parameter["high"]
    if parameter.get("log"):
        value = math.exp(math.log(low) + u * (math.log(high) - math.log(low)))
    else:
        value = low + u * (high - low)
    step = parameter.get("step") or (1 if parameter["kind"] == "int" else 0)
    if step:
        value = low + step * round((value - low) / step)
    value = min(high, max(low, value))
    return round(value) if parameter["kind"] == "int" else value


def place_of(parameter: dict[str, Any], value: Any) -> float:
    """The coordinate of a value; of a listed one the middle of its cell."""
    if "values" in parameter:
        return (parameter["values"].index(value) + 0.5) / len(parameter["values"])
    low, high = parameter["low"], parameter["high"]
    if parameter.get("log"):
        low, high, value = math.log(low), math.log(high), math.log(value)
    return (value - low) / (high - low) if high > low else 0.5


def draw(space: dict[str, dict[str, Any]], generator: random.Random) -> dict[str, Any]:
    """A point drawn uniformly."""
    return {name: value_at(parameter, generator.random()) for name, parameter in space.items()}
