"""Corruptions on the scale of the problem's own values, by those at a few hundred fixed points: `Problem.sample`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustbo.tasks.problem import Problem


@dataclass(frozen=True)
class Crash:
    """A corruption that replaces the value by the worst of the problem's sample, with a probability."""

    probability: float
    problem: Problem

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        if generator.random() >= self.probability:
            return value, False
        sample = self.problem.sample
        return float(sample.min() if self.problem.maximizes else sample.max()), True


@dataclass(frozen=True)
class InRange:
    """A corruption that replaces the value by a uniform one of the sample's range, with a probability."""

    probability: float
    problem: Problem

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        is_corrupted = bool(generator.random() < self.probability)
        share = generator.random()
        if not is_corrupted:
            return value, False
        low, high = self.problem.sample.min(), self.problem.sample.max()
        return float(low + share * (high - low)), True


@dataclass(frozen=True)
class TooGood:
    """A corruption that makes the value better by some ranges of the problem's sample, with a probability."""

    probability: float
    problem: Problem
    ranges: float = 10.0

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        if generator.random() >= self.probability:
            return value, False
        better = self.ranges * float(np.ptp(self.problem.sample))
        return value + (better if self.problem.maximizes else -better), True
