"""What all kinds of parameter share: when they exist, and how they are shown and kept."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.validation import as_number, plain_scalar

MAX_LEVELS = 1000  # a parameter with more values than this is searched as if continuous, then rounded

Value = float | int | str | bool | None
When = Mapping[str, Any]  # as it is given: other parameters and the values, or the value, that they must have
Condition = tuple[tuple[str, tuple[Value, ...]], ...]  # as it is kept


@dataclass(frozen=True, kw_only=True, repr=False)
class Conditional:
    """A parameter that may exist only where others have certain values.

    Attributes:
        when: The other parameters, and the values that each must have; None where it always exists.
    """

    kind: ClassVar[str]
    when: Any = None  # a mapping when it is given, a `Condition` from then on

    def _freeze(self, name: str) -> None:
        object.__setattr__(self, "when", condition(name, self.when))

    @property
    def condition(self) -> Condition:
        """What must hold for it to exist; empty where it always does."""
        return self.when or ()

    def _own(self) -> dict[str, Any]:
        """What it is besides ``when``, without options that are not used."""
        return {f.name: v for f in fields(self) if f.name != "when" and (v := getattr(self, f.name)) is not None}

    def _shown(self) -> dict[str, Any]:
        return self._own() | ({} if self.when is None else {"when": {name: [*v] for name, v in self.when}})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._shown().items())})"

    def to_dict(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return {"kind": self.kind} | self._shown()


def condition(name: str, when: Any) -> Condition | None:
    """A condition as it is kept.

    Args:
        name: Of the parameter, for messages.
        when: A mapping of other parameters to the values that they must have, or what this gives.

    Raises:
        SpaceError: If it is none.
    """
    if when is None or (isinstance(when, tuple) and all(isinstance(each, tuple) for each in when)):
        return when or None
    if not isinstance(when, Mapping) or not when or not all(isinstance(other, str) for other in when):
        raise SpaceError(f"{name}.when: must be like {{'booster': ['dart']}}, got {when!r}")
    return tuple((other, _values(f"{name}.when", other, given)) for other, given in when.items())


def _values(name: str, other: str, given: Any) -> tuple[Value, ...]:
    is_many = isinstance(given, Sequence | set | frozenset) and not isinstance(given, str | bytes)
    values = tuple(map(plain_scalar, given if is_many else [given]))
    if not values:
        raise SpaceError(f"{name}: {other!r} must have at least one value for which the parameter exists, got none")
    for value in values:
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise SpaceError(f"{name}: values are str, int, float, bool or None, got {value!r} for {other!r}")
    return values


def number(name: str, value: Any) -> float:
    """A finite number as a float.

    Raises:
        SpaceError: If it is none.
    """
    if type(value) is float and math.isfinite(value):
        return value
    try:
        if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an int beyond all floats
        pass
    raise SpaceError(f"{name}: must be a finite number, got {value!r}{as_number(value)}")
