"""TuRBO-1 by its published rule, written anew on BoTorch: one trust region of a local GP, by Thompson sampling.

The region is a box about the best point, of side L in the unit cube, stretched by the length scales at constant
volume. After 3 successes in a row L doubles, after max(4, d) failures (of single trials) it halves; below 2^-7 all
begins anew with 2 d Sobol points (at most 20 here, where a budget is 100). The next point is the best of min(100 d,
5000) candidates by one draw of the posterior; each candidate differs from the center in each coordinate with
probability min(1, 20 / d). Constraints are not told: whoever asks refuses a point beyond one. A trial that failed is a
failure of the region, and has the worst value so far. It recommends the best measured point, as the authors' code
does.

References:
    Eriksson, Pearce, Gardner, Turner and Poloczek (2019), Scalable global optimization via local Bayesian optimization.
"""

from typing import Any

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.generation import MaxPosteriorSampling
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor
from torch.quasirandom import SobolEngine

from benchmarks.league.server.base import Base, Point
from benchmarks.league.server.box import Box

FIRST, LEAST, MOST = 0.8, 0.5**7, 1.6  # sides
SUCCESSES, FAILURES = 3, 4
BETTER = 1e-3  # of the best value's size: a smaller gain is no success
INITIAL = 20
FLOAT = torch.float64


class Peer(Base):
    """One trust region."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self._box = Box(self.space)
        self._restart()

    def _restart(self) -> None:
        self._side, self._successes, self._failures = FIRST, 0, 0
        self._begins_at = len(self.trials)
        self._initial = min(2 * self._box.dim, INITIAL)
        self._sobol = SobolEngine(self._box.dim, scramble=True, seed=(self.seed + len(self.trials)) % 2**31)

    @property
    def _local(self) -> list[tuple[Point, float]]:
        """Points and costs since the region began."""
        return self.costs[self._begins_at :]

    def ask(self) -> Point:
        """A point of the initial design of the region, or one drawn in it."""
        if len(self.trials) - self._begins_at < self._initial or len(self._local) < 2:
            return self._box.point(self._sobol.draw(1, dtype=FLOAT)[0].tolist())
        X = torch.tensor([self._box.row(point) for point, _ in self._local], dtype=FLOAT)
        Y = torch.tensor([[-cost] for _, cost in self._local], dtype=FLOAT)
        model = SingleTaskGP(X, Y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        candidates = self._candidates(X[int(Y.argmax())], _lengthscales(model))
        with torch.no_grad():
            rows = MaxPosteriorSampling(model, replacement=False)(candidates, num_samples=1)
        return self._box.point(rows[0].tolist())

    def _candidates(self, center: Tensor, lengthscales: Tensor) -> Tensor:
        d = self._box.dim
        weights = lengthscales / lengthscales.mean()
        weights = weights / weights.prod().pow(1 / d)
        low, high = (center - weights * self._side / 2).clamp(0, 1), (center + weights * self._side / 2).clamp(0, 1)
        count = min(100 * d, 5000)
        within = low + (high - low) * self._sobol.draw(count, dtype=FLOAT)
        moves = torch.rand(count, d) <= min(1.0, 20 / d)
        stay = (~moves.any(dim=1)).nonzero().flatten()
        moves[stay, torch.randint(d, (len(stay),))] = True
        return torch.where(moves, within, center.expand(count, d))

    def tell(self, point: Point, value: float | None) -> None:
        """Take a value, and resize the region after its initial design."""
        local = self._local
        super().tell(point, value)
        if len(self.trials) - self._begins_at <= self._initial or len(local) < 2:
            return
        best = min(cost for _, cost in local)
        is_success = value is not None and self.sign * value < best - BETTER * abs(best)
        self._successes, self._failures = (self._successes + 1, 0) if is_success else (0, self._failures + 1)
        if self._successes == SUCCESSES:
            self._side, self._successes = min(2 * self._side, MOST), 0
        elif self._failures == max(FAILURES, self._box.dim):
            self._side, self._failures = self._side / 2, 0
        if self._side < LEAST:
            self._restart()


def _lengthscales(model: SingleTaskGP) -> Tensor:
    kernel = model.covar_module if hasattr(model.covar_module, "lengthscale") else None
    if kernel is None or kernel.lengthscale is None:
        kernel = model.covar_module.base_kernel
    return kernel.lengthscale.detach().flatten()
