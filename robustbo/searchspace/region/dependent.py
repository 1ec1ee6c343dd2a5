"""Values that follow from others, as values of their parameters."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.equations import Dependent
from robustbo.searchspace.parameters import DIGITS, Float, Int, Parameter, Value

ROUNDING = 1e-9  # of a range


class Completion(NamedTuple):
    """Values, and those that follow from them.

    Attributes:
        values: By name; where a parameter has no such value, the number that follows.
        excess: By how much each number is below the least value of its parameter, and above the greatest.
        is_whole: Whether all parameters have the values that follow.
    """

    values: dict[str, Any]
    excess: list[float]
    is_whole: bool


def complete(
    values: Mapping[str, Any], dependents: Sequence[Dependent], parameters: Mapping[str, Parameter]
) -> Completion:
    """Complete values with those that follow; `Shape.complete` does so with many unit-cube rows at once.

    Args:
        values: By name, of all parameters from which others follow.
        dependents: The parameters that follow.
        parameters: All of them, by name.
    """
    full, excess, is_whole = dict(values), list[float](), True
    for dependent in dependents:
        parameter, x = parameters[dependent.name], dependent.number(full)
        low, high = parameter.interval or (x, x)
        excess += [low - x, x - high]
        value = nearest_value(parameter, x)
        full[dependent.name], is_whole = x if value is None else value, is_whole and value is not None
    return Completion(full, excess, is_whole)


def coordinates(parameter: Parameter, x: Tensor) -> Tensor:
    """The unit coordinates of values; outside [0, 1] where they are out of bounds."""
    if isinstance(parameter, Float) and parameter.count is None:
        unit: Tensor = parameter.scale.unit(x)
        return unit
    exact = [nearest_value(parameter, number) for number in x.detach().reshape(-1).tolist()]
    units = [math.nan if value is None else parameter.to_unit(value) for value in exact]
    return x.new_tensor(units).reshape(x.shape)


def steepness(parameter: Parameter, x: float) -> float:
    """The slope of `coordinates` along the value; none where only some numbers are values."""
    if not isinstance(parameter, Float) or parameter.count is not None:
        return 0.0
    rise = x * parameter.scale.span if parameter.log else parameter.scale.span
    return 1.0 / rise if rise else 0.0


def nearest_value(parameter: Parameter, x: float) -> Value:
    """The value of a parameter nearest to a number, if that is as good as it; None else."""
    low, high = parameter.interval or (0.0, 0.0)
    if not low - ROUNDING * (high - low) <= x <= high + ROUNDING * (high - low):
        return None
    x = min(max(x, low), high)
    if isinstance(parameter, Float) and parameter.count is None:
        return min(max(float(f"{x:.{DIGITS}g}"), low), high)
    try:
        if isinstance(parameter, Float):
            return parameter.validate("", x)
        near = round(x) if isinstance(parameter, Int) else min(parameter.values, key=lambda v: abs(float(v or 0) - x))
        is_near = abs(float(near) - x) <= ROUNDING * max(1.0, abs(x))  # type: ignore[arg-type]
        return parameter.validate("", near) if is_near else None
    except SpaceError:
        return None
