"""The base of all kinds of parameter: their conditions, and how they are shown and written."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.searchspace.units import number_and_unit
from robustbo.validation import as_number, plain_scalar

MAX_LEVELS = 1000  # a parameter with more values than this is searched as if continuous, then rounded

Value = float | int | str | bool | None
When = Mapping[str, Any]  # as the caller writes it: other parameters and the values, or the value, that they must have
Condition = tuple[tuple[str, tuple[Value, ...]], ...]  # as a parameter has it


@dataclass(frozen=True, kw_only=True, repr=False)
class Conditional:
    """A parameter that may exist only where others have certain values.

    Attributes:
        when: The other parameters, and the values that each must have; None where it always exists.
    """

    kind: ClassVar[str]
    when: Any = None  # a mapping as the caller writes it, a `Condition` from then on

    def _freeze(self, name: str) -> None:
        object.__setattr__(self, "when", condition(name, self.when))

    @property
    def condition(self) -> Condition:
        """The condition for it to exist; empty where it always does."""
        return self.when or ()

    def _own(self) -> dict[str, Any]:
        """The options besides ``when``, without those that are not used."""
        return {f.name: v for f in fields(self) if f.name != "when" and (v := getattr(self, f.name)) is not None}

    def _options(self) -> dict[str, Any]:
        return self._own() | ({} if self.when is None else {"when": {name: [*v] for name, v in self.when}})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._options().items())})"

    def to_dict(self) -> dict[str, Any]:
        """The parameter as plain JSON values."""
        return {"kind": self.kind} | self._options()


def condition(name: str, when: Any) -> Condition | None:
    """A condition in its frozen form.

    Args:
        name: Of the parameter, for messages.
        when: A mapping of other parameters to the values that they must have, or a frozen condition.

    Raises:
        SpaceError: If it is none.
    """
    if when is None or (isinstance(when, tuple) and all(isinstance(pair, tuple) for pair in when)):
        return when or None
    if not isinstance(when, Mapping) or not when or not all(isinstance(other, str) for other in when):
        raise SpaceError(f"{name}.when: must be like {{'booster': ['dart']}}, got {when!r}")
    return tuple((other, _values(f"{name}.when", other, values)) for other, values in when.items())


def _values(name: str, other: str, entry: Any) -> tuple[Value, ...]:
    is_many = isinstance(entry, Sequence | set | frozenset) and not isinstance(entry, str | bytes)
    plain_values = tuple(map(plain_scalar, entry if is_many else [entry]))
    if not plain_values:
        raise SpaceError(f"{name}: {other!r} must have at least one value for which the parameter exists, got none")
    for value in plain_values:
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise SpaceError(f"{name}: values are str, int, float, bool or None, got {value!r} for {other!r}")
    return plain_values


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
    pair = number_and_unit(value)
    advice = as_number(value) if pair is None else f"; called '{name} ({pair[1]})', it takes numbers with that unit"
    raise SpaceError(f"{name}: must be a finite number, got {value!r}{advice}")
