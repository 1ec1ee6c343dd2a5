"""BoTorch's qLogNEI on a model with its defaults, as BoTorch's tutorials write it: a loop by hand.

The first points are a scrambled Sobol sequence; then the model is fitted, and qLogNoisyExpectedImprovement is
maximized by `optimize_acqf` (10 restarts of 512 raw samples), with the linear constraints. A trial that failed has the
worst value so far. It recommends the measured point with the best posterior mean, as the tutorials with noise do.

References:
    Ament et al. (2023), Unexpected improvements to expected improvement; Ament et al. (2024), Robust Gaussian processes
    via relevance pursuit.
"""

from typing import Any

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.robust_relevance_pursuit_model import RobustRelevancePursuitSingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor
from torch.quasirandom import SobolEngine

from benchmarks.league.server.base import Base, Point, num_initial
from benchmarks.league.server.box import Box

RESTARTS, RAW = 10, 512
MODELS = {model.__name__: model for model in (SingleTaskGP, RobustRelevancePursuitSingleTaskGP)}
FLOAT = torch.float64


class Peer(Base):
    """A loop around a BoTorch model."""

    def __init__(self, message: dict[str, Any], model: str) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self._box, self._model = Box(self.space), MODELS[model]
        self._linear = [
            (torch.arange(self._box.dim), -torch.tensor(row, dtype=FLOAT), constant)
            for row, constant in self._box.linear(self.constraints)
        ]  # BoTorch's are at least a bound
        self._sobol = SobolEngine(self._box.dim, scramble=True, seed=self.seed)
        self._initial = num_initial(len(self.space))

    def ask(self) -> Point:
        """The next point."""
        if len(self.trials) < self._initial or len(self.costs) < 2:
            return self._box.point(self._sobol.draw(1, dtype=FLOAT)[0].tolist())
        model, X = self._fit()
        acquisition = qLogNoisyExpectedImprovement(model, X, prune_baseline=True)
        candidates, _ = optimize_acqf(
            acquisition,
            bounds=torch.stack([torch.zeros(self._box.dim), torch.ones(self._box.dim)]).to(FLOAT),
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW,
            inequality_constraints=self._linear or None,
        )
        return self._box.point(candidates[0].tolist())

    def _fit(self) -> tuple[Any, Tensor]:
        """The fitted model, of values of which more is better, and its points."""
        points = self.costs
        X = torch.tensor([self._box.row(point) for point, _ in points], dtype=FLOAT)
        Y = torch.tensor([[-cost] for _, cost in points], dtype=FLOAT)
        model = self._model(X, Y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    def recommend(self) -> Point:
        """The measured point with the best posterior mean."""
        points = self.measured_points
        if len(points) < 2:
            return super().recommend()
        model, _ = self._fit()
        X = torch.tensor([self._box.row(point) for point, _ in points], dtype=FLOAT)
        with torch.no_grad():
            mean = model.posterior(X).mean[:, 0]
        return points[int(mean.argmax())][0]
