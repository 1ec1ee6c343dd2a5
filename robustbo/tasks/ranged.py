"""Corruptions on the scale of the problem's own values, by those at a few hundred fixed points: `Problem.sample`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustbo.tasks.by_chance import ByChance
from robustbo.tasks.problem import Problem


@dataclass(frozen=True)
class Crash(ByChance):
    """A corruption that replaces the value by the worst of the problem's sample, with a probability."""

    problem: Problem

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: None) -> float:
        """Return the worst of the sample."""
        sample = self.problem.sample
        return float(sample.min() if self.problem.maximizes else sample.max())


@dataclass(frozen=True)
class InRange(ByChance):
    """A corruption that replaces the value by a uniform one of the sample's range, with a probability."""

    problem: Problem

    def draw(self, generator: np.random.Generator) -> float:
        """Draw a share of the range."""
        return generator.random()

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: float) -> float:
        """Return the value at that share of the range."""
        low, high = self.problem.sample.min(), self.problem.sample.max()
        return float(low + draw * (high - low))


@dataclass(frozen=True)
class TooGood(ByChance):
    """A corruption that makes the value better by some ranges of the problem's sample, with a probability."""

    problem: Problem
    ranges: float = 10.0

    def wrong_value(self, value: float, x: Mapping[str, Any], draw: None) -> float:
        """Return the value, better by the ranges."""
        better = self.ranges * float(np.ptp(self.problem.sample))
        return value + (better if self.problem.maximizes else -better)
