"""Charts along one parameter, the others as they are at the incumbent."""

from collections.abc import Sequence

import numpy as np

from robustbo.report.chart import GRAY, Axis, Line, labels
from robustbo.searchspace.parameters import Parameter
from robustbo.searchspace.space import Space

POINTS = 61  # of a slice
TICKS = 5


def units_of(parameter: Parameter) -> Sequence[float]:
    """Unit coordinates at which a slice is computed: all levels, or `POINTS`."""
    return parameter.levels or [k / (POINTS - 1) for k in range(POINTS)]


def rows_through(space: Space, at: Sequence[float], i: int) -> list[list[float]]:
    """Unit-cube rows along parameter ``i`` through a point."""
    return [[*at[:i], unit, *at[i + 1 :]] for unit in units_of(space.parameters[i][1])]


def across(name: str, parameter: Parameter) -> Axis:
    """The axis of a parameter's unit coordinate, with its values along it."""
    values = [*dict.fromkeys(parameter.from_unit(k / (TICKS - 1)) for k in range(TICKS))]
    numbers = [float(value) for value in values if value is not None]
    return Axis(name, 0.0, 1.0, names=tuple(zip(map(parameter.to_unit, values), labels(numbers), strict=True)))


def upright(here: float, up: Axis) -> Line:
    """The line at the incumbent."""
    return Line("", GRAY, np.array([here, here]), np.array([up.low, up.high]), dash="2 4")
