"""Trials that give no value: in a region of the space, or anywhere with a probability."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustbo.tasks.problem import Problem
from robustbo.tasks.regions import Region, region


@dataclass(frozen=True)
class InjectedFailure:
    """A failure of trials: everywhere in a region, and elsewhere with a probability, there is no value.

    Attributes:
        probability: Of a flake, which happens anywhere.
        inside: Whether a point lies in the region where every trial fails; None without a region.
    """

    probability: float = 0.0
    inside: Region | None = None

    @classmethod
    def of(
        cls, problem: Problem, *, probability: float = 0.0, region_name: str | None = None, **options: float
    ) -> "InjectedFailure":
        """Return the spec of a problem, with a region by name; see `robustbo.tasks.regions`.

        Raises:
            ValueError: If there is no such region, or it does not take these options.
        """
        if region_name is None:
            if options:
                raise ValueError(f"failure without a region has the option 'probability' alone, got {sorted(options)}")
            return cls(probability)
        return cls(probability, region(region_name, problem, options))

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """NaN where the trial fails, else the value; it is never corrupted."""
        is_flake = bool(generator.random() < self.probability)
        return (math.nan if is_flake or self.fails_at(x) else value), False

    def fails_at(self, x: Mapping[str, Any]) -> bool:
        """Return whether every trial at a point fails."""
        return self.inside is not None and self.inside(x)
