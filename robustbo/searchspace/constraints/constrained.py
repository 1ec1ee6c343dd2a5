"""Constraints of a space, by kind, and those that a point breaks."""

from collections.abc import Mapping
from typing import Any

from robustbo.lazy import cached_property
from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.constraints.constraint_set import ConstraintSet
from robustbo.searchspace.parameters import Parameter


class Constrained:
    """The constraints of a space, of which it is a part.

    Attributes:
        parameters: By name, in order.
        constraints: What must hold between them.
    """

    parameters: tuple[tuple[str, Parameter], ...]
    constraints: tuple[Constraint | AtMost, ...]

    @property
    def texts(self) -> list[str]:
        """The constraints, as they were given."""
        return list(dict.fromkeys(constraint.text for constraint in self.constraints))

    @property
    def arithmetic(self) -> list[Constraint]:
        """The comparisons of expressions."""
        return [constraint for constraint in self.constraints if isinstance(constraint, Constraint)]

    @property
    def equations(self) -> list[Constraint]:
        """The comparisons that say that two sides are equal."""
        return [constraint for constraint in self.arithmetic if constraint.is_equality]

    @property
    def groups(self) -> list[AtMost]:
        """The constraints on how many parameters of a group may be on."""
        return [constraint for constraint in self.constraints if isinstance(constraint, AtMost)]

    def broken(self, params: Mapping[str, Any]) -> list[str]:
        """The constraints that a point breaks, by more than rounding."""
        return self.constraint_set.violations(params)

    @cached_property
    def constraint_set(self) -> ConstraintSet:
        """The constraints, at many points at once."""
        return ConstraintSet(self.constraints, {name: p.interval for name, p in self.parameters if p.interval})

    def _constraints_option(self) -> list[str]:
        return [f"constraints={self.texts!r}"] if self.constraints else []
