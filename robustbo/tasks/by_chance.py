"""Corruptions that hit each trial with a probability."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ByChance:
    """A corruption that puts a wrong value in place of the right one, with a probability.

    A subclass has the wrong value. Its `draw` is made whether or not the trial is hit, so that every method meets the
    same corruption at the same trial.
    """

    probability: float

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        is_corrupted = bool(generator.random() < self.probability)
        draw = self.draw(generator)
        return (self.wrong_value(value, x, draw), True) if is_corrupted else (value, False)

    def draw(self, generator: np.random.Generator) -> Any:
        """Draw the random numbers that the wrong value is made of; none unless a subclass needs some.

        What is drawn last of a trial's numbers may be drawn by `wrong_value`: then this is the generator itself.
        """
        return None

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: Any) -> float:
        """Return the wrong value at a point.

        Args:
            value: The right one.
            x: The point.
            draw: The random numbers.
        """
        raise NotImplementedError
