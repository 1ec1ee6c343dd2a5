"""The search space: named parameters, constraints between them, points in the unit cube, and Sobol points."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from robustbo.errors import SpaceError
from robustbo.lazy import cached_property
from robustbo.searchspace.conditions import Conditions, find_conditions, present_names
from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constrained import Constrained
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.constraints.system import constraints_of
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter, Value
from robustbo.searchspace.parameters.reading import EXAMPLE_SPACES, check_parameters, pop_constraints, read_parameter
from robustbo.searchspace.point_check import measured_point, validate_part, validate_point
from robustbo.searchspace.sobol import MAX_DIMENSIONS, sobol_rows

__all__ = ["Choice", "Float", "Int", "Ordinal", "Space"]

V = TypeVar("V")
ABSENT = 0.5  # the unit coordinate of a parameter that does not exist at a point


@dataclass(frozen=True, init=False)
class Space(Constrained):
    """Named parameters, in the order given, and constraints that are known beforehand.

    A parameter with a condition (``when``) is absent from the points where the condition does not hold.

    Args:
        constraints: Constraints on numbers, such as ``"x + y <= 1"``: names of parameters (in backquotes if they are
            not identifiers), numbers, ``+ - * / **``, and comparisons. Equations must be linear. A constraint holds at
            a point without one of its parameters. ``"at most 2 of x, y, z"`` is an `AtMost`.
        mapping: Parameters by name, for names that are not identifiers: ``Space({"pH value": Float(2, 9)})``.
        parameters: Parameters by name. A parameter may be called "constraints".

    Raises:
        SpaceError: If there is no parameter, one breaks a rule, or constraints cannot be read or never hold.

    Example:
        >>> from robustbo import Choice, Float, Int
        >>> space = Space(lr=Float(1e-4, 1e-1, log=True), layers=Int(1, 8), activation=Choice("relu", "tanh"))
        >>> space.from_unit([0.5, 0.0, 0.9])
        {'lr': 0.0031622776602, 'layers': 1, 'activation': 'tanh'}
        >>> Space(x=Float(0, 1), y=Float(0, 1), constraints=["x + y <= 1"]).broken({"x": 0.5, "y": 0.75})
        ['x + y <= 1']
        >>> space = Space(kind=Choice("tree", "dart"), drop=Float(0, 1, when={"kind": "dart"}))
        >>> space.from_unit([0.2, 0.5]), space.from_unit([0.7, 0.5])
        ({'kind': 'tree'}, {'kind': 'dart', 'drop': 0.5})
    """

    parameters: tuple[tuple[str, Parameter], ...]
    constraints: tuple[Constraint | AtMost, ...]

    def __init__(
        self, mapping: Mapping[str, Parameter] | None = None, /, **parameters: Parameter | Sequence[str | AtMost]
    ) -> None:
        if mapping is not None and not isinstance(mapping, Mapping):
            raise SpaceError(f"a space is made of named parameters, {EXAMPLE_SPACES}, got {mapping!r}")
        both = {**(mapping or {}), **parameters}
        self._set(both, pop_constraints(both))

    def _set(self, parameters: Mapping[str, Any], texts: Any) -> None:
        if not parameters:
            raise SpaceError("a space needs at least one parameter, got none")
        if len(parameters) > MAX_DIMENSIONS:
            raise SpaceError(
                f"a space has at most {MAX_DIMENSIONS} parameters, as Sobol points have, got {len(parameters)}"
            )
        check_parameters(parameters)
        object.__setattr__(self, "parameters", tuple(parameters.items()))
        if all(parameter.count == 1 for parameter in parameters.values()):
            raise SpaceError(f"a space needs a parameter with more than one value, got {parameters!r}")
        self.conditions  # noqa: B018 - raises where they are none
        object.__setattr__(self, "constraints", constraints_of(texts, self.parameters))

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        shown = [f"{name}={parameter!r}" for name, parameter in self.parameters]
        return f"{type(self).__name__}({', '.join([*shown, *self._constraints_option()])})"

    @property
    def names(self) -> list[str]:
        """The parameters' names, in order."""
        return [name for name, _ in self.parameters]

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions of the parameters that have some; see `robustbo.searchspace.conditions`."""
        return find_conditions(self.parameters)

    @property
    def is_conditional(self) -> bool:
        """Return whether parameters may be absent."""
        return bool(self.conditions)

    @property
    def is_pool(self) -> bool:
        """Return whether its points are listed one by one."""
        return False

    @property
    def is_plain(self) -> bool:
        """Return whether any values of the parameters make a point."""
        return not (self.constraints or self.conditions)

    @classmethod
    def from_dict(
        cls, parameters: Mapping[str, Parameter | Mapping[str, Any]], constraints: Sequence[str | AtMost] = ()
    ) -> "Space":
        """A space from a mapping (any string is a name there) of parameters or of their `to_dict` form."""
        if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
            raise SpaceError(f"a space is made from a mapping of names (str) to parameters, got {parameters!r}")
        space = cls.__new__(cls)
        space._set({name: read_parameter(name, form) for name, form in parameters.items()}, constraints)
        return space

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The parameters as plain JSON values; `from_dict` gives the same space back, with its `texts`."""
        return {name: parameter.to_dict() for name, parameter in self.parameters}

    def validate(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The point as plain Python values in the space's order, whether it keeps the constraints or not.

        Raises:
            SpaceError: If a parameter is unknown, missing, absent by its condition, of the wrong type, out of its
                bounds or NaN.
        """
        return validate_point(self.parameters, self.conditions, params)

    def measured_point(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The point at which something was measured, inside the space or not, as plain values in the space's order.

        Raises:
            SpaceError: As `validate`, except for bounds and steps; also if a value is not finite, or is not above 0
                on a log scale, or is a thousand ranges away.

        Example:
            >>> Space(angle=Float(0, 90)).measured_point({"angle": 90.03})
            {'angle': 90.03}
        """
        return measured_point(self.parameters, self.conditions, params)

    def why_outside(self, params: Mapping[str, Any]) -> str | None:
        """The reason why the space does not allow a measured point, constraints aside; None where it does."""
        try:
            self.validate(params)
        except SpaceError as error:
            return str(error)
        return None

    def allows(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point may be asked for: within bounds, on steps, and keeping all constraints."""
        return self.why_outside(params) is None and not self.broken(params)

    def is_as_written(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point is written as `validate` gives it; a `SpaceError` if it is none."""
        return self.validate(params) == params

    def is_as_measured(self, params: Mapping[str, Any]) -> bool:
        """Return whether a point is written as `measured_point` gives it; a `SpaceError` if it is none."""
        return self.measured_point(params) == params

    def partial(self, params: Mapping[str, Any] | None) -> tuple[tuple[str, Value], ...]:
        """Values of some parameters, as plain Python values in the space's order; none for None.

        Raises:
            SpaceError: If one is unknown, breaks a rule, or does not exist with what else is given.
        """
        return validate_part(self.parameters, self.conditions, params)

    def existing(self, values: Mapping[str, Any]) -> set[str]:
        """The names of the parameters that exist where the others have these values."""
        return present_names(self.parameters, self.conditions, values)

    def select_present(self, values: Mapping[str, V]) -> dict[str, V]:
        """The values of the parameters that exist, in the space's order.

        Args:
            values: Of all parameters that exist, and perhaps of others.
        """
        names = self.existing(values)
        return {name: values[name] for name in self.names if name in names}

    def to_unit(self, params: Mapping[str, Any]) -> list[float]:
        """The point's d coordinates in the unit cube; that of a parameter that does not exist is `ABSENT`."""
        if not self.is_conditional:
            return [parameter.to_unit(params[name]) for name, parameter in self.parameters]
        return [p.to_unit(params[name]) if name in params else ABSENT for name, p in self.parameters]

    def from_unit(self, u: Sequence[float]) -> dict[str, Value]:
        """The point at d coordinates of the unit cube, whether it keeps the constraints or not."""
        point = {name: parameter.from_unit(float(x)) for (name, parameter), x in zip(self.parameters, u, strict=True)}
        return self.select_present(point) if self.is_conditional else point

    def sobol(self, seed: int, index: int) -> dict[str, Value]:
        """Point number ``index`` of the scrambled Sobol sequence that ``seed`` scrambles."""
        return self.sobol_points(seed, index, 1)[0]

    def sobol_points(self, seed: int, index: int, count: int) -> list[dict[str, Value]]:
        """The ``count`` points from number ``index`` on, whether they keep the constraints or not."""
        return [self.from_unit(row) for row in self.sobol_rows(seed, index, count)]

    def sobol_rows(self, seed: int, index: int, count: int) -> np.ndarray:
        """Their unit-cube rows: an array of ``count x d``."""
        return sobol_rows(len(self), seed, index, count)

    @property
    def size(self) -> int | None:
        """Number of rows of values, constraints and conditions aside; None for infinitely many."""
        counts = [parameter.count for _, parameter in self.parameters]
        return None if None in counts else math.prod(count for count in counts if count is not None)

    def point(self, index: int) -> dict[str, Value]:
        """Point number ``index`` of a finite space, in the order of counting.

        Raises:
            ValueError: If the space is not finite, or has not so many points.
        """
        if self.size is None or not 0 <= index < self.size:
            raise ValueError(f"index must lie below the {self.size} points of the space, got {index}")
        values: dict[str, Value] = {}
        for name, parameter in reversed(self.parameters):
            index, digit = divmod(index, parameter.count or 1)
            values[name] = parameter.nth(digit)
        return {name: values[name] for name in self.names}
