"""Candidates as scikit-learn has them, and the points of the space that they are."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.sklearn.distributions import values_of


class Candidates(NamedTuple):
    """The points of a search space, whose values may stand for objects.

    Attributes:
        space: The space; None where it has but one point.
        objects: By parameter: the object that each value stands for.
        only: That point.

    Example:
        >>> candidates = Candidates.of({"alpha": [0.1, 1.0, 10.0], "scaler": [None, len]})
        >>> candidates.space
        Space(alpha=Ordinal(0.1, 1.0, 10.0, log=True), scaler=Choice(0, 1))
        >>> candidates.params({"alpha": 1.0, "scaler": 1})
        {'alpha': 1.0, 'scaler': <built-in function len>}
    """

    space: Space | None
    objects: Mapping[str, Mapping[Any, Any]]
    only: Mapping[str, Value] = {}

    @classmethod
    def of(cls, space: Space | Mapping[str, Any]) -> "Candidates":
        """The candidates of a space, or of a mapping from names to parameters or to anything that `values_of` reads.

        Raises:
            SpaceError, TypeError: If it is neither.
        """
        if isinstance(space, Space):
            return cls(space, {})
        if not isinstance(space, Mapping):
            hint = "; say with `when` which parameters exist where" if isinstance(space, list | tuple) else ""
            raise TypeError(
                f"space must be a robustbo.Space, or a dict of names to parameters, got {type(space).__name__}{hint}"
            )
        if odd := [name for name in space if not isinstance(name, str)]:
            raise SpaceError(f"parameters must have names, got {odd[0]!r}")
        parsed = {name: values_of(name, values) for name, values in space.items()}
        objects = {name: values.objects for name, values in parsed.items() if values.objects is not None}
        parameters = {name: values.parameter for name, values in parsed.items()}
        if all(parameter.count == 1 and parameter.when is None for parameter in parameters.values()):
            return cls(None, objects, {name: parameter.from_unit(0.5) for name, parameter in parameters.items()})
        return cls(Space.from_dict(parameters), objects)

    def params(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """The estimator's parameters at a point of the space."""
        return {name: self.objects[name][value] if name in self.objects else value for name, value in point.items()}
