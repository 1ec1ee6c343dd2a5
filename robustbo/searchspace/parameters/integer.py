"""Whole-numbered parameters."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from robustbo.errors import SpaceError
from robustbo.guidance import explain_misfits
from robustbo.lazy import cached_property
from robustbo.searchspace.parameters.condition import MAX_LEVELS, Conditional, number
from robustbo.searchspace.parameters.foreign_ranges import check_log
from robustbo.searchspace.parameters.scale import Scale
from robustbo.validation import plain_scalar


@explain_misfits("__init__")
@dataclass(frozen=True, repr=False)
class Int(Conditional):
    """An integer parameter in {low, ..., high}; on a log scale if ``log``; every ``step``-th from ``low`` on.

    Example:
        >>> Int(16, 64, step=16).from_unit(0.6)
        48
    """

    kind: ClassVar[str] = "int"
    low: int
    high: int
    log: bool = False
    step: int | None = None

    def __post_init__(self) -> None:
        for bound in ("low", "high", "step"):
            object.__setattr__(self, bound, plain_scalar(getattr(self, bound)))
        self._freeze("Int")
        self.check("Int")

    def check(self, name: str) -> None:
        """Raise a `SpaceError` that begins with a name if the definition breaks a rule."""
        low, high = self._integer(f"{name}.low", self.low), self._integer(f"{name}.high", self.high)
        if not low <= high:
            raise SpaceError(f"{name}: low must not be above high, got low={low}, high={high}")
        check_log(name, self.log)
        if self.log and low < 1:
            raise SpaceError(f"{name}: a log scale needs low >= 1, got low={low}")
        if max(abs(low), abs(high)) > 2**45:
            raise SpaceError(f"{name}: bounds must lie within 2**45 to be exact, got low={low}, high={high}")
        if self.step is not None:
            step = self._integer(f"{name}.step", self.step)
            if step < 1:
                raise SpaceError(f"{name}: step must be at least 1, got {step}")
            if (high - low) % step:
                last = high - (high - low) % step
                ends = f"{last} or {last + step}" if last > low else f"{last + step}"
                raise SpaceError(
                    f"{name}: high must be a whole number of steps from low, got low={low}, high={high}, step={step}; "
                    f"take high={ends}"
                )

    @staticmethod
    def _integer(name: str, value: Any) -> int:
        if type(value) is not int and number(name, value) != int(value):  # True is no number
            raise SpaceError(f"{name}: must be a whole number, got {value!r}")
        return int(value)

    @property
    def _step(self) -> int:
        return 1 if self.step is None else int(self.step)

    def validate(self, name: str, value: Any) -> int:
        """The value as an int; a `SpaceError` if it is not a whole number within the bounds, or misses the steps."""
        number = self._integer(name, value)
        if not self.low <= number <= self.high:
            raise SpaceError(f"{name}: must lie in [{self.low}, {self.high}], got {number}")
        if (number - int(self.low)) % self._step:
            raise SpaceError(f"{name}: must lie on a step of {self.step} from {self.low}, got {number}")
        return number

    def _on_scale(self, value: float) -> float:
        return math.log(value) if self.log else float(value)

    @cached_property
    def scale(self) -> Scale:
        """The map of the unit interval to the range of all cells; to its logarithms on a log scale."""
        half = self._step / 2
        low = max(self.low - half, self.low / 2) if self.log else self.low - half
        start = self._on_scale(low)
        return Scale(start, self._on_scale(self.high + half) - start)

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell of the unit interval; beyond it, or between, of a value that was measured."""
        return float(self.scale.unit(self._on_scale(value)))

    def from_unit(self, u: float) -> int:
        """The value whose cell holds the coordinate."""
        raw = self.scale.value(u)
        step, shift = self._step, int(self.low) % self._step
        nearest = math.floor(((math.exp(raw) if self.log else raw) - shift) / step + 0.5) * step + shift
        return int(min(max(nearest, self.low), self.high))

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        return float(self.low), float(self.high)

    @property
    def levels(self) -> list[float] | None:
        """The unit coordinate of every value, or None where there are more than `MAX_LEVELS`."""
        if self.count > MAX_LEVELS:
            return None
        return [self.to_unit(self.nth(index)) for index in range(self.count)]

    @property
    def count(self) -> int:
        """Number of values."""
        return (int(self.high) - int(self.low)) // self._step + 1

    def nth(self, index: int) -> int:
        """Value number ``index``, the lowest being 0."""
        return int(self.low) + index * self._step
