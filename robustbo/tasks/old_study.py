"""Old studies of a problem: values of another source, whose relation to the problem's is known.

What a source reads is f, f + size, center + size (f - center), f + size delta with a smooth error delta, or another
function; sizes are in spreads of the problem's values (a factor where it is scaled). delta and the other function are
sums of cosines, drawn by the replication.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from robustbo import seeds
from robustbo.tasks.problem import SAMPLED, Problem

Relation = Literal["identical", "offset", "scaled", "biased", "unrelated"]
WAVES = 60  # cosines of a sum
LENGTHS = {"biased": 0.8, "unrelated": 0.3}  # of a smooth error, and of another function, times the root of d
LEAST, MOST = 2.0, 6.0  # errors of single wrong values, in spreads
LOOKED_AT = 16  # points for each that is measured, where constraints forbid some


@dataclass(frozen=True)
class OldStudy:
    """Values that another source has measured of a problem.

    Attributes:
        problem: Of which the target is; its values' standard deviation is the spread.
        of: Whose values the source reads: the problem itself, or a cheaper one with the same parameters.
        relation: What it reads of them.
        size: Of the relation.
        values: How many there are.
        wrong: The probability that a value is wrong by itself.

    Raises:
        ValueError: If the two have different parameters, or there is no such relation.
    """

    problem: Problem
    of: Problem
    relation: Relation = "identical"
    size: float = 1.0
    values: int = 40
    wrong: float = 0.0

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise ValueError(f"relation must be one of {get_args(Relation)}, got {self.relation!r}")
        if self.of.space.names != self.problem.space.names:
            names = f"{self.problem.space.names}, got {self.of.space.names} of {self.of.name!r}"
            raise ValueError(f"the problem of an old study must have the parameters of the target's, {names}")

    def measurements(self, root: int, purpose: str) -> list[tuple[dict[str, Any], float]]:
        """The points and values without noise, a function of the replication's seed and the purpose of the draws."""
        space, reading = self.problem.space, self._source_function(root, purpose)
        points = space.sobol_points(seeds.derive(root, 0, purpose), 0, LOOKED_AT * self.values)
        allowed = [point for point in points if space.allows(point)][: self.values]
        return [(point, self._value(reading, point, root, i, purpose)) for i, point in enumerate(allowed)]

    def _value(
        self, reading: Callable[[Mapping[str, Any]], float], point: Mapping[str, Any], root: int, i: int, purpose: str
    ) -> float:
        generator = seeds.generator(root, i, purpose)
        is_wrong, sign, size = (
            generator.random() < self.wrong,
            generator.choice([-1, 1]),
            generator.uniform(LEAST, MOST),
        )
        return float(reading(point) + is_wrong * sign * size * self._spread)

    @property
    def _spread(self) -> float:
        return float(self.problem.sample.std())

    def _source_function(self, root: int, purpose: str) -> Callable[[Mapping[str, Any]], float]:
        """The function that the source measures."""
        center, spread, size = float(self.problem.sample.mean()), self._spread, self.size
        if self.relation in ("biased", "unrelated"):
            waves = _waves(self.problem, seeds.generator(root, 0, f"{purpose}: function"), LENGTHS[self.relation])
            if self.relation == "unrelated":
                return lambda point: center + spread * waves(point)
            return lambda point: self.of(point) + size * spread * waves(point)
        if self.relation == "scaled":
            return lambda point: center + size * (self.of(point) - center)
        offset = size * spread if self.relation == "offset" else 0.0
        return lambda point: self.of(point) + offset


def _waves(problem: Problem, generator: np.random.Generator, length: float) -> Callable[[Mapping[str, Any]], float]:
    """A random sum of cosines with a length-scale, of mean 0 and variance 1 over the space."""
    d = len(problem.space)
    W, b = generator.standard_normal((WAVES, d)) / (length * math.sqrt(d)), generator.uniform(0, 2 * math.pi, WAVES)

    def wave(point: Mapping[str, Any]) -> float:
        return float(np.cos(W @ np.array(problem.space.to_unit(point)) + b).sum())

    values = [wave(point) for point in problem.space.sobol_points(0, 0, SAMPLED)]
    mean, sd = float(np.mean(values)), float(np.std(values))
    return lambda point: (wave(point) - mean) / sd
