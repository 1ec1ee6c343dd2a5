"""Real repeats: a trial measures one of the values that were really measured at its point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustbo import seeds
from robustbo.tasks.problem import Problem


@dataclass(frozen=True)
class Repeats:
    """The value is one of the point's own repeats; with a probability, one of another point's: a mix-up.

    Where a point is asked for again its next repeat is measured, in an order drawn for the point, until all were.

    Attributes:
        problem: One with repeats, whose points are listed.
        probability: Of a mix-up.
        root: The replication's seed.
        replicate: Number of times that the point was asked for before.
    """

    problem: Problem
    probability: float = 0.0
    root: int = 0
    replicate: int = 0

    def __post_init__(self) -> None:
        if self.problem.repeats is None:
            raise ValueError(f"repeats needs a problem with repeats, such as a table; {self.problem.name} has none")

    def at(self, root: int, replicate: int) -> "Repeats":
        """Return the spec of a replication's replicate: one at a point that was asked for so often before."""
        return replace(self, root=root, replicate=replicate)

    def apply(self, value: float, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[float, bool]:
        """The value as measured, and whether it was corrupted."""
        is_mixed_up = bool(generator.random() < self.probability)
        other = self.problem.space.point(int(generator.random() * (self.problem.space.size or 0)))
        values = self._values(other if is_mixed_up else x)
        order = seeds.generator(self.root, 0, f"repeats {list(x.values())}").permutation(len(values))
        return float(values[order[self.replicate % len(values)]]), is_mixed_up

    def _values(self, x: Mapping[str, Any]) -> Sequence[float]:
        assert self.problem.repeats is not None
        return self.problem.repeats(x)
