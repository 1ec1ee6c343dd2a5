"""The base of parameters whose values are listed."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from robustbo.errors import SpaceError
from robustbo.guidance import explain_misfits
from robustbo.searchspace.parameters.condition import Conditional, Value, When
from robustbo.searchspace.parameters.foreign_ranges import meaning_of, scale_word
from robustbo.searchspace.parameters.scale import cell_index, cell_middle
from robustbo.validation import FIRST, MANY, nearest, plain_scalar, short_list


@explain_misfits("__init__")
@dataclass(frozen=True, init=False, repr=False)
class Listed(Conditional):
    """One of several values: strings, numbers, booleans or None."""

    values: tuple[Value, ...]

    def __init__(self, *values: Value, when: When | None = None) -> None:
        object.__setattr__(self, "values", tuple(map(plain_scalar, values)))
        object.__setattr__(self, "when", when)
        self._freeze(type(self).__name__)
        self.check(type(self).__name__)

    def __repr__(self) -> str:
        values = [*map(repr, self.values)]
        if len(values) > MANY:
            values = [*values[:FIRST], f"... {len(values)} values"]
        shown = [*values, *(f"{k}={v!r}" for k, v in self._options().items() if k == "when")]
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The parameter as plain JSON values."""
        return super().to_dict() | {"values": list(self.values)}

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule."""
        if not self.values:
            raise SpaceError(f"{name}: there must be at least one value, got none")
        if len(self.values) == 1 and isinstance(self.values[0], list | tuple | set | range):
            raise SpaceError(f"{name}: values are listed one by one, as {name}(1, 2), not as {self.values[0]!r}")
        if len(self.values) == 3 and scale_word(self.values[2]) and (meaning := meaning_of(self.values)):
            advice = f"did you mean {meaning.call}?"
            raise SpaceError(f"{name}: values must be the possible choices, got the word {self.values[2]!r}; {advice}")
        for value in self.values:
            if not (value is None or isinstance(value, str | bool | int | float)):
                raise SpaceError(f"{name}: values are str, int, float, bool or None, got {value!r}")
            if isinstance(value, float) and not math.isfinite(value):
                raise SpaceError(f"{name}: must be a finite number, got {value!r}")
        if len(set(map(key, self.values))) < len(self.values):
            raise SpaceError(f"{name}: the values must differ, got {short_list(self.values)}")

    @cached_property
    def _indices(self) -> dict[tuple[bool, Value], int]:
        return {key(value): index for index, value in enumerate(self.values)}

    def _index(self, value: Any) -> int:
        if (index := self._indices.get(key(value))) is None:
            raise ValueError(f"{value!r} is not one of the values")
        return index

    def validate(self, name: str, value: Any) -> Value:
        """The value as it was listed; a `SpaceError` if it is not one of the choices."""
        try:
            return self.values[self._index(plain_scalar(value))]
        except (ValueError, TypeError):
            hint = nearest(value, [v for v in self.values if isinstance(v, str)]) or self._nearest(value)
            raise SpaceError(f"{name}: must be one of {short_list(self.values)}, got {value!r}{hint}") from None

    def _nearest(self, value: Any) -> str:
        """The number that is nearest, to end a message with, where not all are listed there."""
        numbers = [v for v in self.values if isinstance(v, int | float)]
        if self.interval is None or len(numbers) <= MANY or not isinstance(value, int | float):
            return ""
        return f"; the nearest is {min(numbers, key=lambda number: abs(number - value))!r}"

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell of the unit interval."""
        return float(cell_middle(self._index(value), len(self.values)))

    def from_unit(self, u: float) -> Value:
        """The value whose cell holds the coordinate."""
        return self.values[cell_index(u, len(self.values))]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The lowest and the highest number; None where some are none."""
        numbers = [float(v) for v in self.values if isinstance(v, int | float) and not isinstance(v, bool)]
        return (min(numbers), max(numbers)) if len(numbers) == len(self.values) else None

    @property
    def levels(self) -> list[float]:
        """The unit coordinate of every value."""
        return [cell_middle(index, len(self.values)) for index in range(len(self.values))]

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.values)

    def nth(self, index: int) -> Value:
        """Value number ``index``, in the order given."""
        return self.values[index]


def key(value: Value) -> tuple[bool, Value]:
    """A key that differs where values do: True == 1 in Python, but not here."""
    return isinstance(value, bool), value
