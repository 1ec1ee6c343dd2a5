"""The correction of values by the errors of the sources that measured them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SourceCorrection:
    """Errors of the sources of measured values, in the user's units; equal where they correct the same alike.

    Attributes:
        numbers: The trials that they concern, rising.
        errors: How much too high the value of each reads.
        shared: Of each ``k`` numbers: the part of its error that is not known, of which each column is shared, times
            its standard deviation.
        warm_start: Where a fit beside them begins.
    """

    numbers: tuple[int, ...]
    errors: tuple[float, ...]
    shared: tuple[tuple[float, ...], ...]
    warm_start: Any = field(default=None, compare=False, repr=False)

    def error_of(self, numbers: Sequence[int]) -> list[float]:
        """The errors of trials; 0 of those that they do not concern."""
        by_number = dict(zip(self.numbers, self.errors, strict=True))
        return [by_number.get(number, 0.0) for number in numbers]

    def shares_of(self, numbers: Sequence[int]) -> list[tuple[float, ...]]:
        """The shared parts of trials; zeros of those that they do not concern."""
        by_number = dict(zip(self.numbers, self.shared, strict=True))
        none = (0.0,) * len(self.shared[0])
        return [by_number.get(number, none) for number in numbers]
