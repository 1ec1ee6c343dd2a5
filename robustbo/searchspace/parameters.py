"""The three kinds of parameter: their rules, and their maps to the unit interval.

A parameter's value is the truth and its unit coordinate is always derived from it. What comes out of the unit interval
is rounded to `DIGITS` significant digits (of the range, or of the value on a log scale), which is coarser than the
error of the two maps: so value -> unit -> value and value -> JSON -> value are exact, bit for bit, for every value ever
asked.
"""

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.validation import nearest, plain_scalar

DIGITS = 11  # 1e-11 of a range is far above the rounding error of the maps (about 1e-15 times the log of the ratio)
MAX_LEVELS = 1000  # an Int with more values than this is searched as if continuous, then rounded

Value = float | int | str | bool | None


def _number(name: str, value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    try:
        if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an int beyond all floats
        pass
    raise SpaceError(f"{name}: must be a finite number, got {value!r}")


@dataclass(frozen=True)
class Float:
    """A real parameter in [low, high]; on a log scale where ``log``."""

    kind: ClassVar[str] = "float"
    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        for bound in ("low", "high"):
            object.__setattr__(self, bound, plain_scalar(getattr(self, bound)))
        self.check("Float")

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule; made ones never do."""
        low, high = _number(f"{name}.low", self.low), _number(f"{name}.high", self.high)
        if not low < high:
            raise SpaceError(f"{name}: low must be below high, got low={low!r}, high={high!r}")
        if not isinstance(self.log, bool):
            raise SpaceError(f"{name}: log must be True or False, got {self.log!r}")
        if self.log and low <= 0:
            raise SpaceError(f"{name}: a log scale needs low > 0, got low={low!r}")
        if not math.isfinite(high - low):
            raise SpaceError(f"{name}: high - low must be finite, got low={low!r}, high={high!r}")
        if self.log and not math.isfinite(high / low):
            raise SpaceError(f"{name}: a log scale needs a finite high / low, got low={low!r}, high={high!r}")

    def validate(self, name: str, value: Any) -> float:
        """The value as a float; a `SpaceError` if it is not a number within the bounds."""
        number = _number(name, value)
        if not self.low <= number <= self.high:
            raise SpaceError(f"{name}: must lie in [{self.low!r}, {self.high!r}], got {number!r}")
        return number

    def to_unit(self, value: Any) -> float:
        """The coordinate in [0, 1]."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def from_unit(self, u: float) -> float:
        """The value at a coordinate, rounded to `DIGITS` digits; 0 and 1 give the bounds themselves."""
        if u <= 0.0 or u >= 1.0:
            return float(self.low if u <= 0.0 else self.high)
        if self.log:
            raw = self.low * math.exp(u * math.log(self.high / self.low))
            value = float(f"{raw:.{DIGITS}g}")
        else:
            span = self.high - self.low
            value = round(self.low + u * span, DIGITS - math.floor(math.log10(span)))
        value = float(min(max(value, self.low), self.high))
        return float(self.high) if self.to_unit(value) >= 1.0 else value  # too near for the unit interval to tell apart

    @property
    def levels(self) -> None:
        """A real parameter takes no countable set of unit coordinates."""
        return None

    @property
    def count(self) -> None:
        """Infinitely many values."""
        return None

    def nth(self, index: int) -> float:
        """There is none: a real parameter cannot be counted."""
        raise ValueError(f"a Float has no value number {index}")


@dataclass(frozen=True)
class Int:
    """An integer parameter in {low, ..., high}; on a log scale where ``log``."""

    kind: ClassVar[str] = "int"
    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for bound in ("low", "high"):
            object.__setattr__(self, bound, plain_scalar(getattr(self, bound)))
        self.check("Int")

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule; made ones never do."""
        low, high = self._integer(f"{name}.low", self.low), self._integer(f"{name}.high", self.high)
        if not low < high:
            raise SpaceError(f"{name}: low must be below high, got low={low}, high={high}")
        if not isinstance(self.log, bool):
            raise SpaceError(f"{name}: log must be True or False, got {self.log!r}")
        if self.log and low < 1:
            raise SpaceError(f"{name}: a log scale needs low >= 1, got low={low}")
        if max(abs(low), abs(high)) > 2**45:
            raise SpaceError(f"{name}: bounds must lie within 2**45 to be exact, got low={low}, high={high}")

    @staticmethod
    def _integer(name: str, value: Any) -> int:
        if _number(name, value) != int(value):
            raise SpaceError(f"{name}: must be a whole number, got {value!r}")
        return int(value)

    def validate(self, name: str, value: Any) -> int:
        """The value as an int; a `SpaceError` if it is not a whole number within the bounds."""
        number = self._integer(name, value)
        if not self.low <= number <= self.high:
            raise SpaceError(f"{name}: must lie in [{self.low}, {self.high}], got {number}")
        return number

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else float(value)

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell of the unit interval."""
        low, high = self._scaled(self.low - 0.5), self._scaled(self.high + 0.5)
        return (self._scaled(value) - low) / (high - low)

    def from_unit(self, u: float) -> int:
        """The value whose cell holds the coordinate."""
        low, high = self._scaled(self.low - 0.5), self._scaled(self.high + 0.5)
        raw = low + u * (high - low)
        nearest = math.floor((math.exp(raw) if self.log else raw) + 0.5)
        return int(min(max(nearest, self.low), self.high))

    @property
    def levels(self) -> list[float] | None:
        """The unit coordinate of every value, or None where there are more than `MAX_LEVELS`."""
        if self.high - self.low + 1 > MAX_LEVELS:
            return None
        return [self.to_unit(value) for value in range(int(self.low), int(self.high) + 1)]

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.high) - int(self.low) + 1

    def nth(self, index: int) -> int:
        """Value number ``index``, the lowest being 0."""
        return int(self.low) + index


@dataclass(frozen=True, init=False)
class Choice:
    """One of several values without an order: strings, numbers, booleans or None."""

    kind: ClassVar[str] = "choice"
    values: tuple[Value, ...]

    def __init__(self, *values: Value) -> None:
        object.__setattr__(self, "values", tuple(map(plain_scalar, values)))
        self.check("Choice")

    def __repr__(self) -> str:
        return f"Choice({', '.join(map(repr, self.values))})"

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule; made ones never do."""
        if len(self.values) < 2:
            raise SpaceError(f"{name}: a choice needs at least two values, got {list(self.values)!r}")
        for value in self.values:
            if not (value is None or isinstance(value, str | bool | int | float)):
                raise SpaceError(f"{name}: a choice takes str, int, float, bool or None, got {value!r}")
            if isinstance(value, float) and not math.isfinite(value):
                raise SpaceError(f"{name}: must be a finite number, got {value!r}")
        if len(set(map(self._key, self.values))) < len(self.values):
            raise SpaceError(f"{name}: the values of a choice must differ, got {list(self.values)!r}")

    @staticmethod
    def _key(value: Value) -> tuple[bool, Value]:
        return isinstance(value, bool), value  # True == 1 in Python, but not here

    def _index(self, value: Any) -> int:
        return [self._key(v) for v in self.values].index(self._key(value))

    def validate(self, name: str, value: Any) -> Value:
        """The value as it was listed; a `SpaceError` if it is not one of the choices."""
        try:
            return self.values[self._index(plain_scalar(value))]
        except (ValueError, TypeError):
            hint = nearest(value, [v for v in self.values if isinstance(v, str)])
            raise SpaceError(f"{name}: must be one of {list(self.values)!r}, got {value!r}{hint}") from None

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell of the unit interval."""
        return (self._index(value) + 0.5) / len(self.values)

    def from_unit(self, u: float) -> Value:
        """The value whose cell holds the coordinate."""
        return self.values[min(max(math.floor(u * len(self.values)), 0), len(self.values) - 1)]

    @property
    def levels(self) -> list[float]:
        """The unit coordinate of every value."""
        return [self.to_unit(value) for value in self.values]

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def nth(self, index: int) -> Value:
        """Value number ``index``, in the order given."""
        return self.values[index]


Parameter = Float | Int | Choice
