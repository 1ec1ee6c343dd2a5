"""Constraints known beforehand: comparisons of arithmetic expressions, which a point keeps to rounding."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.expression import Expression
from robustbo.searchspace.constraints.grammar import read_comparisons, shorten

TOLERANCE = 1e-9  # of an excess' magnitude: values are rounded to 11 digits of their ranges


@dataclass(frozen=True)
class Constraint:
    """An expression that must not exceed 0, or must be 0 where ``is_equality``.

    Attributes:
        text: As it was written; the comparisons of a chain share it.
        excess: How far a point is beyond the constraint; at most 0 within.
        is_equality: Whether it must be 0; linear then.
    """

    text: str
    excess: Expression
    is_equality: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in it."""
        return self.excess.names

    def holds(self, values: Mapping[str, Any]) -> Any:
        """Return whether points keep it to rounding, elementwise; one that lacks a parameter of it does.

        Args:
            values: By parameter, a value or a column of values; a constraint does not hold at NaN.

        Example:
            >>> (constraint,) = parse("x + y <= 0.3", ["x", "y"])
            >>> constraint.holds({"x": np.array([0.1, 0.2]), "y": 0.2}).tolist(), bool(constraint.holds({"x": 9}))
            ([True, False], True)
        """
        if not values.keys() >= set(self.names):
            return np.True_
        beyond = violation(np.asarray(self.excess(values), dtype=float), self.is_equality)
        magnitude = np.asarray(self.excess.magnitude(values), dtype=float)
        return beyond <= TOLERANCE * np.where(np.isfinite(magnitude), magnitude, 0.0)


def violation(excess: Any, is_equality: Any) -> Any:
    """Excesses as distances beyond what is allowed, elementwise: an equality is broken on either side."""
    return np.where(is_equality, np.abs(excess), excess)


def parse(text: str, names: Collection[str]) -> list[Constraint]:
    """The constraints that a text says: one a comparison, so that a chain has several.

    Args:
        text: Such as ``"0.2 <= x + y**2 <= 1"``; < and > are taken as <= and >=, and a name that Python would not
            read stands in backquotes.
        names: The parameters that are numbers.

    Raises:
        SpaceError: If something in it is not understood or not allowed, or it says nothing that can be kept.

    Example:
        >>> [c.excess.linear.constant for c in parse("0.2 <= `share a` + b <= 1", ["share a", "b"])]
        [0.2, -1.0]
        >>> parse("x + z <= 1", ["x", "y"])
        Traceback (most recent call last):
        robustbo.errors.SpaceError: constraint 'x + z <= 1': 'z' is no parameter; there are ['x', 'y']
    """
    constraints = []
    for left, relation, right in read_comparisons(text, names):
        sides = Expression(left), Expression(right)
        low, high = reversed(sides) if relation == ">=" else sides
        constraint = Constraint(text.strip(), low.minus(high), relation == "==")
        if error := _fault(constraint):
            raise SpaceError(f"constraint {shorten(constraint.text)!r}: {error}")
        constraints.append(constraint)
    return constraints


def _fault(constraint: Constraint) -> str | None:
    """The reason why a constraint cannot be kept, or always is; None where there is none."""
    excess = constraint.excess
    if not excess.names:
        return "compares numbers alone; it must have a parameter"
    if not excess.is_defined:
        return "has a part without a finite value: a division by 0, a root of a negative number, or one too large"
    if excess.linear and not excess.linear.coefficients:
        return f"says nothing about {', '.join(map(repr, excess.names))}, which cancels out"
    if constraint.is_equality and not excess.linear:
        return "an equality must be linear; calculate one parameter of it from the others, or allow a margin"
    return None
