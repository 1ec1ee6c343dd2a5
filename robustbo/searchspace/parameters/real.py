"""Real parameters, and those that go by steps."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.guidance import explain_misfits
from robustbo.lazy import cached_property
from robustbo.searchspace.parameters.condition import MAX_LEVELS, Conditional, number
from robustbo.searchspace.parameters.foreign_ranges import check_log
from robustbo.searchspace.parameters.scale import Scale, cell_index, cell_middle
from robustbo.validation import plain_scalar

DIGITS = 11  # 1e-11 of a range is far above the rounding error of the maps (about 1e-15 times the log of the ratio)
NEARLY = 1e-6  # of a step, by which a value may miss it
MOST_STEPS = 2**45


@explain_misfits("__init__")
@dataclass(frozen=True, repr=False)
class Float(Conditional):
    """A real parameter in [low, high]; on a log scale if ``log``; in steps from ``low`` on if ``step`` is set.

    Example:
        >>> Float(0.0, 1.0, step=0.25).from_unit(0.7)
        0.75
    """

    kind: ClassVar[str] = "float"
    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        for bound in ("low", "high", "step"):
            object.__setattr__(self, bound, plain_scalar(getattr(self, bound)))
        self._freeze("Float")
        self.check("Float")

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule."""
        low, high = number(f"{name}.low", self.low), number(f"{name}.high", self.high)
        if not low <= high:
            raise SpaceError(f"{name}: low must not be above high, got low={low!r}, high={high!r}")
        check_log(name, self.log)
        if self.log and low <= 0:
            raise SpaceError(f"{name}: a log scale needs low > 0, got low={low!r}")
        if not math.isfinite(high - low):
            raise SpaceError(f"{name}: high - low must be finite, got low={low!r}, high={high!r}")
        if self.log and not math.isfinite(high / low):
            raise SpaceError(f"{name}: a log scale needs a finite high / low, got low={low!r}, high={high!r}")
        if self.step is not None:
            self._check_step(name, low, high)

    def _check_step(self, name: str, low: float, high: float) -> None:
        step = number(f"{name}.step", self.step)
        if self.log:
            raise SpaceError(f"{name}: steps are even, so not on a log scale, got step={step!r}; list an Ordinal")
        if not step > 0 or (high - low) / step > MOST_STEPS:
            raise SpaceError(f"{name}: step must be positive, and at least 2**-45 of the range, got step={step!r}")
        count = round((high - low) / step)
        if abs((high - low) / step - count) > NEARLY:
            ends = " or ".join(repr(self._at(index, step)) for index in range(max(count - 1, 1), count + 2))
            raise SpaceError(
                f"{name}: high must be a whole number of steps from low, got low={low!r}, high={high!r}, "
                f"step={step!r}; take high={ends}"
            )

    def _at(self, index: int, step: float) -> float:
        value = float(self.low) + index * step
        size = max(step, max(abs(self.low), abs(value)) * 1e-3)  # to 14 digits of the larger, as decimals are written
        return round(value, DIGITS - math.floor(math.log10(size)))

    def validate(self, name: str, value: Any) -> float:
        """The value as a float; a `SpaceError` if it is not a number within the bounds, or misses the steps."""
        x = number(name, value)
        if not self.low <= x <= self.high:
            raise SpaceError(f"{name}: must lie in [{self.low!r}, {self.high!r}], got {x!r}")
        if self.step is None or self.count is None:
            return x
        index = (x - self.low) / self.step
        if abs(index - round(index)) > NEARLY and x != self.nth(round(index)):
            raise SpaceError(f"{name}: must lie on a step of {self.step!r} from {self.low!r}, got {x!r}")
        return self.nth(round(index))

    @cached_property
    def scale(self) -> Scale:
        """The map of the unit interval to the range, steps aside."""
        if self.log:
            return Scale(self.low, math.log(self.high / self.low), is_log=True)
        return Scale(self.low, self.high - self.low)

    def to_unit(self, value: Any) -> float:
        """The coordinate in [0, 1], with steps the middle of a value's cell; of a measured one beyond, or between."""
        if self.count is None:
            return float(self.scale.unit(value))
        if self.step is None:
            return 0.5
        place = (value - self.low) / self.step
        is_on_step = abs(place - round(place)) <= NEARLY or value == self._at(round(place), self.step)
        return float(cell_middle(round(place) if is_on_step else place, self.count))

    def from_unit(self, u: float) -> float:
        """The value at a coordinate, rounded to `DIGITS` digits; 0 and 1 give the bounds themselves."""
        if self.count is not None:
            return self.nth(cell_index(u, self.count))
        if u <= 0.0 or u >= 1.0:
            return float(self.low if u <= 0.0 else self.high)
        raw, span = self.scale.value(u), self.scale.span
        value = float(f"{raw:.{DIGITS}g}") if self.log else round(raw, DIGITS - math.floor(math.log10(span)))
        value = float(min(max(value, self.low), self.high))
        return float(self.high) if self.to_unit(value) >= 1.0 else value  # too near for the unit interval to tell apart

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        return float(self.low), float(self.high)

    @property
    def levels(self) -> list[float] | None:
        """The unit coordinate of every value; None where it is not counted, or has more than `MAX_LEVELS`."""
        if self.count is None or self.count > MAX_LEVELS:
            return None
        return [self.to_unit(self.nth(index)) for index in range(self.count)]

    @property
    def count(self) -> int | None:
        """Number of values; None for infinitely many."""
        if self.low == self.high:
            return 1
        return None if self.step is None else round((self.high - self.low) / self.step) + 1

    def nth(self, index: int) -> float:
        """Value number ``index``, the lowest being 0.

        Raises:
            ValueError: If they cannot be counted.
        """
        if self.count is None:
            raise ValueError(f"a Float without a step has no value number {index}")
        if index in (0, self.count - 1) or self.step is None:
            return float(self.low if index == 0 else self.high)
        return self._at(index, self.step)
