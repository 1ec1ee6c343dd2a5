"""Linear equations between parameters, solved for some of them, which follow from the others."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.parameters import Float, Parameter

NOTHING = 1e-10  # of the largest term of an equation: a term that is left over by rounding


class Dependent(NamedTuple):
    """A parameter that follows from others: ``constant`` plus the sum of ``coefficients`` times theirs."""

    name: str
    constant: float
    coefficients: dict[str, float]

    def number(self, values: Mapping[str, Any]) -> float:
        """The number that follows from values of the others, whether the parameter has it or not."""
        return self.constant + math.fsum(times * float(values[name]) for name, times in self.coefficients.items())


def solve(
    equations: Sequence[Constraint], parameters: Mapping[str, Parameter], fixed_values: Mapping[str, float]
) -> list[Dependent]:
    """Linear equations solved for as many parameters.

    Those that are solved for are real ones where there are some, of a linear scale rather than of a logarithmic one.

    Args:
        equations: All of them.
        parameters: Of the space.
        fixed_values: Values of parameters that are fixed.

    Raises:
        SpaceError: If an equation contradicts the others, or what is fixed.
    """
    rows = [_row(equation, fixed_values) for equation in equations]
    sizes = [_size(equation, parameters) for equation in equations]
    order: list[tuple[int, str]] = []
    for i, equation in enumerate(equations):
        row, constant = rows[i]
        row = {name: a for name, a in row.items() if abs(a) * _most(parameters[name]) > NOTHING * sizes[i]}
        if not row:
            if abs(constant) > NOTHING * sizes[i]:
                fixed = f" at {dict(fixed_values)}" if fixed_values else ""
                raise SpaceError(f"{equation.text!r} can never hold{fixed}, with what else must hold")
            continue
        pivot = max(row, key=lambda name: _ease(parameters[name], row[name]))
        rows[i] = {name: a / row[pivot] for name, a in row.items()}, constant / row[pivot]
        for k in range(len(rows)):
            if k != i and pivot in rows[k][0]:
                rows[k] = _less(rows[k], rows[i], rows[k][0][pivot], pivot)
        order.append((i, pivot))
    return [
        Dependent(pivot, -rows[i][1], {name: -a for name, a in rows[i][0].items() if name != pivot})
        for i, pivot in order
    ]


def _row(equation: Constraint, fixed_values: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """The coefficients of what is not known, and the constant, which sum to zero."""
    linear = equation.excess.linear
    assert linear is not None, equation
    coefficients = dict(linear.coefficients)
    constant = linear.constant + sum(a * fixed_values[name] for name, a in coefficients.items() if name in fixed_values)
    return {name: a for name, a in coefficients.items() if name not in fixed_values}, constant


def _size(equation: Constraint, parameters: Mapping[str, Parameter]) -> float:
    """The most that a term of an equation can be."""
    linear = equation.excess.linear
    assert linear is not None, equation
    return max([abs(linear.constant), *(abs(a) * _most(parameters[name]) for name, a in linear.coefficients)])


def _most(parameter: Parameter) -> float:
    """The most that a parameter can be, without its sign."""
    return max(map(abs, parameter.interval or (1.0,))) or 1.0


def _ease(parameter: Parameter, coefficient: float) -> tuple[bool, bool, float]:
    low, high = parameter.interval or (0.0, 0.0)
    is_real = isinstance(parameter, Float) and parameter.count is None
    return is_real, not getattr(parameter, "log", False), abs(coefficient) * (high - low)


def _less(
    row: tuple[dict[str, float], float], other: tuple[dict[str, float], float], times: float, pivot: str
) -> tuple[dict[str, float], float]:
    names = [name for name in dict.fromkeys([*row[0], *other[0]]) if name != pivot]
    return {name: row[0].get(name, 0.0) - times * other[0].get(name, 0.0) for name in names}, row[1] - times * other[1]
