"""A sensor that sticks: a trial measures the value that the trial before it reported."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sticks:
    """A corruption that repeats the value reported by the trial before, with a probability; never in the first.

    Attributes:
        probability: Of each trial, however the one before it went.
        last: The value that the trial before reported; None of the first, or where that had none.
    """

    probability: float
    last: float | None = None

    def after(self, last: float | None) -> "Sticks":
        """Return the spec at a trial, by the value that the one before it reported."""
        return replace(self, last=last)

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        is_stuck = bool(generator.random() < self.probability)
        return (self.last, True) if is_stuck and self.last is not None else (value, False)
