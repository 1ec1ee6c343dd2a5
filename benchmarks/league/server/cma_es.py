"""pycma on the unit cube: first step size 0.3, from a point drawn in the middle, without its noise handling.

That handling measures again what a small budget does not have. Where pycma stops it begins anew with twice the
population. A trial that failed is worse than all others of its generation. Constraints are not told: whoever asks
refuses a point beyond one, and it is such a failure. It recommends the mean of its distribution (`xfavorite`), or the
best measured point in the first generation.
"""

import math
import random
from typing import Any

import cma

from benchmarks.league.server.base import Base, Point
from benchmarks.league.server.box import Box

SIGMA, WITHIN = 0.3, (0.2, 0.8)  # pycma: the optimum is to be expected within about 3 sigma


class Peer(Base):
    """The covariance matrix adaptation evolution strategy, a generation of points after another."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        self._box, self._generator = Box(self.space), random.Random(self.seed)
        if self._box.dim < 2:
            raise NotImplementedError("pycma needs at least two dimensions")
        self._favorite: Point | None = None
        self._restart(None)

    def _restart(self, population: int | None) -> None:
        options = {"bounds": [0, 1], "seed": self._generator.randrange(1, 2**31), "verbose": -9}
        options |= {} if population is None else {"popsize": population}
        start = [self._generator.uniform(*WITHIN) for _ in range(self._box.dim)]
        self._strategy = cma.CMAEvolutionStrategy(start, SIGMA, options)
        self._generation, self._costs = self._strategy.ask(), []  # type: ignore[var-annotated]

    def ask(self) -> Point:
        """The next of the generation."""
        return self._box.point(self._generation[len(self._costs)])

    def tell(self, point: Point, value: float | None) -> None:
        """Take a value; a whole generation moves the distribution."""
        super().tell(point, value)
        number = len(self._costs)
        if self._box.point(self._generation[number]) != point:  # it was measured elsewhere
            self._generation[number] = type(self._generation[number])(self._box.dim)
            self._generation[number][:] = self._box.row(point)
        self._costs.append(math.nan if value is None else self.sign * value)
        if len(self._costs) < len(self._generation):
            return
        complete = [cost for cost in self._costs if not math.isnan(cost)]
        if complete:
            worse = max(complete) + 1.0
            costs = [worse if math.isnan(cost) else cost for cost in self._costs]
            self._strategy.tell(self._generation, costs)
            self._favorite = self._box.point(self._strategy.result.xfavorite)
        if self._strategy.stop():
            self._restart(2 * self._strategy.popsize)
        else:
            self._generation, self._costs = self._strategy.ask(), []

    def recommend(self) -> Point:
        """The mean of the distribution."""
        return super().recommend() if self._favorite is None else self._favorite
