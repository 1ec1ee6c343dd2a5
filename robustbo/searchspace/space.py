"""The search space: named parameters, their point in the unit cube, and scrambled Sobol points."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import qmc

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Parameter, Value
from robustbo.validation import nearest

KINDS: dict[str, type[Float] | type[Int]] = {"float": Float, "int": Int}
MOST = qmc.Sobol.MAXDIM
KIND_NAMES = {kind.kind: kind.__name__ for kind in (Float, Int, Choice)}


@dataclass(frozen=True, init=False)
class Space:
    """Named parameters, in the order given.

    Raises:
        SpaceError: If there is no parameter, or one breaks a rule.

    Example:
        >>> space = Space(lr=Float(1e-4, 1e-1, log=True), layers=Int(1, 8), activation=Choice("relu", "tanh"))
        >>> space.from_unit([0.5, 0.0, 0.9])
        {'lr': 0.0031622776602, 'layers': 1, 'activation': 'tanh'}
    """

    parameters: tuple[tuple[str, Parameter], ...]

    def __init__(self, /, **parameters: Parameter) -> None:
        if not parameters:
            raise SpaceError("a space needs at least one parameter, got none")
        if len(parameters) > MOST:
            raise SpaceError(f"a space has at most {MOST} parameters, as Sobol points have, got {len(parameters)}")
        for name, parameter in parameters.items():
            if not isinstance(parameter, Float | Int | Choice):
                raise SpaceError(f"{name}: must be a Float, Int or Choice, got {parameter!r}")
        object.__setattr__(self, "parameters", tuple(parameters.items()))

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{name}={parameter!r}' for name, parameter in self.parameters)})"

    @property
    def names(self) -> list[str]:
        """The parameters' names, in order."""
        return [name for name, _ in self.parameters]

    @classmethod
    def from_dict(cls, parameters: Mapping[str, Parameter | Mapping[str, Any]]) -> "Space":
        """A space from a mapping (any string is a name there) of parameters or of their `to_dict` form."""
        if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
            raise SpaceError(f"a space is made from a mapping of names (str) to parameters, got {parameters!r}")
        return cls(**{name: _parameter(name, given) for name, given in parameters.items()})

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The space as plain JSON values; `from_dict` gives the same space back."""
        return {
            name: {"kind": p.kind} | ({"values": list(p.values)} if isinstance(p, Choice) else vars(p))
            for name, p in self.parameters
        }

    def validate(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The point as plain Python values in the space's order.

        Raises:
            SpaceError: If a parameter is unknown, missing, of the wrong type, out of its bounds or NaN.
        """
        names = self.names
        if list(params) == names:  # as a journal has it
            return {name: parameter.validate(name, params[name]) for name, parameter in self.parameters}
        if unknown := [name for name in params if name not in names]:
            hint = nearest(unknown[0], names)
            raise SpaceError(
                f"{unknown[0]}: no such parameter, the space has {names}; got {params[unknown[0]]!r}{hint}"
            )
        if missing := [name for name in names if name not in params]:
            raise SpaceError(f"{missing[0]}: every parameter must be given, it is missing in {dict(params)!r}")
        return {name: parameter.validate(name, params[name]) for name, parameter in self.parameters}

    def to_unit(self, params: Mapping[str, Any]) -> list[float]:
        """The point's d coordinates in the unit cube."""
        return [parameter.to_unit(params[name]) for name, parameter in self.parameters]

    def from_unit(self, u: Sequence[float]) -> dict[str, Value]:
        """The point at d coordinates of the unit cube."""
        return {name: parameter.from_unit(float(x)) for (name, parameter), x in zip(self.parameters, u, strict=True)}

    def sobol(self, seed: int, index: int) -> dict[str, Value]:
        """Point number ``index`` of the scrambled Sobol sequence that ``seed`` scrambles."""
        return self.sobol_points(seed, index, 1)[0]

    def sobol_points(self, seed: int, index: int, count: int) -> list[dict[str, Value]]:
        """The ``count`` points from number ``index`` on."""
        sequence = qmc.Sobol(len(self), scramble=True, rng=seed)
        if index > 0:  # SciPy cannot skip no point
            sequence.fast_forward(index)
        with warnings.catch_warnings():  # of a count that is no power of two, whose balance is not needed here
            warnings.simplefilter("ignore", UserWarning)
            return [self.from_unit(row) for row in sequence.random(count)]

    @property
    def size(self) -> int | None:
        """How many points there are; None where a `Float` makes them infinitely many."""
        counts = [parameter.count for _, parameter in self.parameters]
        return None if None in counts else math.prod(count for count in counts if count is not None)

    def point(self, index: int) -> dict[str, Value]:
        """Point number ``index`` of a finite space, in the order of counting.

        Raises:
            ValueError: If the space is not finite, or has not so many points.
        """
        if self.size is None or not 0 <= index < self.size:
            raise ValueError(f"index must lie below the {self.size} points of the space, got {index}")
        found: dict[str, Value] = {}
        for name, parameter in reversed(self.parameters):
            index, digit = divmod(index, parameter.count or 1)
            found[name] = parameter.nth(digit)
        return {name: found[name] for name in self.names}


def _parameter(name: str, given: Parameter | Mapping[str, Any]) -> Parameter:
    if not isinstance(given, Mapping):
        return given
    options = {key: value for key, value in given.items() if key != "kind"}
    try:
        if given["kind"] == "choice" and set(options) == {"values"} and not isinstance(options["values"], str):
            return Choice(*options["values"])
        return KINDS[given["kind"]](**options)
    except (KeyError, TypeError):
        example = {"kind": "float", "low": 0, "high": 1}
        raise SpaceError(f"{name}: must be like {example}, got {dict(given)!r}") from None
    except SpaceError as error:  # which names the class
        raise SpaceError(f"{name}{str(error).removeprefix(KIND_NAMES[given['kind']])}") from None
