"""Parameters of listed values that have an order."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters.condition import MAX_LEVELS, Value, When, number
from robustbo.searchspace.parameters.foreign_ranges import check_log
from robustbo.searchspace.parameters.listed import Listed, key
from robustbo.searchspace.parameters.scale import Scale
from robustbo.validation import short_list

OFF_LIST = 2.0**14  # farther than any unit coordinate: from here on stand the places of numbers that are not listed


@dataclass(frozen=True, init=False, repr=False)
class Ordinal(Listed):
    """One of several ordered values: rising numbers, spaced as the numbers are, or words, spaced evenly.

    Example:
        >>> Ordinal(0.1, 0.2, 0.5).places
        [0.0, 0.25, 1.0]
        >>> Ordinal("low", "medium", "high").places
        [0.0, 0.5, 1.0]
    """

    kind: ClassVar[str] = "ordinal"
    log: bool = False

    def __init__(self, *values: Value, log: bool = False, when: When | None = None) -> None:
        object.__setattr__(self, "log", log)
        super().__init__(*values, when=when)

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule."""
        if not self.values:
            raise SpaceError(f"{name}: there must be at least one value, got none")
        if len(self.values) > MAX_LEVELS:
            raise SpaceError(f"{name}: an ordinal has at most {MAX_LEVELS} values, got {len(self.values)}")
        check_log(name, self.log)
        if all(isinstance(value, str | list | tuple | set | range) for value in self.values):
            if self.log:
                raise SpaceError(f"{name}: a log scale needs numbers, got {short_list(self.values)}")
            return super().check(name)
        numbers = [number(f"{name}: an ordinal takes numbers or words alone", value) for value in self.values]
        if not all(a < b for a, b in pairwise(numbers)):
            raise SpaceError(f"{name}: the numbers of an ordinal must rise, got {short_list(self.values)}")
        if self.log and numbers[0] <= 0:
            raise SpaceError(f"{name}: a log scale needs numbers > 0, got {short_list(self.values)}")
        if not math.isfinite(numbers[-1] - numbers[0]):
            raise SpaceError(f"{name}: the range must be finite, got {short_list(self.values)}")
        return None

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, log=True)" if self.log else super().__repr__()

    def _own(self) -> dict[str, Any]:
        return {"values": self.values, "log": self.log}

    @property
    def places(self) -> list[float]:
        """The place of each value between the first (0) and the last (1)."""
        if len(self.values) == 1:
            return [0.5]
        if isinstance(self.values[0], str):
            return [index / (len(self.values) - 1) for index in range(len(self.values))]
        numbers = [number("", value) for value in self.values]
        at = list(map(math.log, numbers)) if self.log else numbers
        return [self._scale.unit(x) for x in at]

    @property
    def _scale(self) -> Scale:
        low, high = (number("", value) for value in (self.values[0], self.values[-1]))
        low, high = (math.log(low), math.log(high)) if self.log else (low, high)
        return Scale(low, high - low)

    def place(self, x: float) -> float:
        """The place of a number, whether it is listed or not: outside [0, 1] beyond the first and the last."""
        return 0.5 if len(self.values) == 1 else float(self._scale.unit(math.log(x) if self.log else x))

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell; of a number that is not listed its place, beyond `OFF_LIST`."""
        if key(value) in self._indices or not isinstance(value, int | float):
            return super().to_unit(value)
        return OFF_LIST + self.place(value)

    def from_unit(self, u: float) -> Value:
        """The value whose cell holds the coordinate; beyond `OFF_LIST`, the nearest that is listed."""
        if u < OFF_LIST / 2:
            return super().from_unit(u)
        places = self.places
        return self.values[min(range(len(places)), key=lambda i: abs(places[i] - (u - OFF_LIST)))]
