"""Linear equations between parameters, solved for some of them, which follow from the others."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.parameters import Float, Parameter

NOTHING = 1e-10  # of the largest contribution to a number: what is left over by rounding


class Row(NamedTuple):
    """An equation of what is not known: the sum of ``coefficients`` times parameters, and of ``constant``, is zero."""

    coefficients: dict[str, float]
    constant: float


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
    largest = [_magnitudes(equation, fixed_values) for equation in equations]
    order: list[tuple[int, str]] = []
    for i, equation in enumerate(equations):
        row, constant = rows[i]
        row = {name: a for name, a in row.items() if abs(a) > NOTHING * largest[i].coefficients[name]}
        if not row:
            if abs(constant) > NOTHING * largest[i].constant:
                fixed = f" at {dict(fixed_values)}" if fixed_values else ""
                raise SpaceError(f"{equation.text!r} can never hold{fixed}, with what else must hold")
            continue
        pivot = max(row, key=lambda name: _ease(parameters[name], row[name]))
        rows[i] = Row({name: a / row[pivot] for name, a in row.items()}, constant / row[pivot])
        for k in range(len(rows)):
            if k != i and pivot in rows[k].coefficients:
                times = rows[k].coefficients[pivot]
                largest[k] = _combine(largest[k], largest[i], partial(_larger, times=abs(times / row[pivot])))
                rows[k] = _combine(rows[k], rows[i], partial(_less, times=times))
                del rows[k].coefficients[pivot]  # which cancels
        order.append((i, pivot))
    return [
        Dependent(pivot, -rows[i][1], {name: -a for name, a in rows[i][0].items() if name != pivot})
        for i, pivot in order
    ]


def _row(equation: Constraint, fixed_values: Mapping[str, float]) -> Row:
    """The coefficients of what is not known, and the constant, which sum to zero."""
    linear = equation.excess.linear
    assert linear is not None, equation
    coefficients = dict(linear.coefficients)
    constant = linear.constant + sum(a * fixed_values[name] for name, a in coefficients.items() if name in fixed_values)
    return Row({name: a for name, a in coefficients.items() if name not in fixed_values}, constant)


def _magnitudes(equation: Constraint, fixed_values: Mapping[str, float]) -> Row:
    """The largest contributions, without signs, to the coefficients and the constant of a row."""
    linear = equation.excess.linear
    assert linear is not None, equation
    coefficients = {name: abs(a) for name, a in linear.coefficients}
    constants = [a * abs(fixed_values[name]) for name, a in coefficients.items() if name in fixed_values]
    return Row(
        {name: a for name, a in coefficients.items() if name not in fixed_values},
        max([abs(linear.constant), *constants]),
    )


def _ease(parameter: Parameter, coefficient: float) -> tuple[bool, bool, float]:
    low, high = parameter.interval or (0.0, 0.0)
    is_real = isinstance(parameter, Float) and parameter.count is None
    return is_real, not getattr(parameter, "log", False), abs(coefficient) * (high - low)


def _combine(row: Row, other: Row, how: Callable[[float, float], float]) -> Row:
    """A row of what becomes of the numbers of two."""
    coefficients = {
        name: how(row.coefficients.get(name, 0.0), other.coefficients.get(name, 0.0))
        for name in dict.fromkeys([*row.coefficients, *other.coefficients])
    }
    return Row(coefficients, how(row.constant, other.constant))


def _less(a: float, b: float, times: float) -> float:
    return a - times * b


def _larger(a: float, b: float, times: float) -> float:
    return max(a, times * b)
