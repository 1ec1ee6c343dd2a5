"""A fitted process whose outcomes have another warp than the model's own, in the model's units."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.surrogates.transforms.learned_warp import LearnedWarp

NODES, WEIGHTS = (torch.from_numpy(x) for x in np.polynomial.hermite_e.hermegauss(3))
WEIGHTS = WEIGHTS / WEIGHTS.sum()  # of three: by what lies farther out, a warp's inverse grows exponentially
LEAST = 1e-12  # variance that rounding leaves


class RewarpedProcess(NamedTuple):
    """A process given data, whose values go through its own warp backwards, and through the model's.

    A value's mean and variance are those of the distribution that its normal distribution becomes, by a quadrature
    that looks no farther than 1.7 standard deviations; covariances are stretched as the standard deviations at their
    points are.

    Attributes:
        inner: The process, in the units of its own warp.
        own: That warp.
        model: The model's.
    """

    inner: LatentProcess
    own: LearnedWarp
    model: LearnedWarp

    @property
    def X(self) -> Tensor:
        """``n x d`` inputs of the data."""
        return self.inner.X

    def covariance(self, X: Tensor, Z: Tensor) -> Tensor:
        """Prior covariance in the process's own units; see `LatentProcess.covariance`."""
        return self.inner.covariance(X, Z)

    def mean(self, k: Tensor) -> Tensor:
        """``... x q`` means."""
        return self._moments(self.inner.mean(k), self.inner.variances(k))[0]

    def variances(self, k: Tensor) -> Tensor:
        """``... x q`` variances."""
        return self._moments(self.inner.mean(k), self.inner.variances(k))[1]

    def posterior_covariance(self, X: Tensor, k: Tensor) -> Tensor:
        """``... x q x q`` covariances at ``... x q x d`` points."""
        variance = self.inner.variances(k)
        stretch = (self._moments(self.inner.mean(k), variance)[1] / variance).sqrt()
        return self.inner.posterior_covariance(X, k) * stretch.unsqueeze(-1) * stretch.unsqueeze(-2)

    def marginals(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Means and variances at ``q x d`` points, ``q`` each."""
        return self._moments(*self.inner.marginals(X))

    def noise(self, X: Tensor, s2: float) -> Tensor:
        """``q`` noise variances at ``q x d`` points, of a variance in the process's own units."""
        z = self.own.unbend(self.inner.marginals(X)[0])
        return s2 * self.model.variance_slope(z) / self.own.variance_slope(z)

    def _moments(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        nodes, weights = NODES.to(mean), WEIGHTS.to(mean)
        u = mean.unsqueeze(-1) + variance.sqrt().unsqueeze(-1) * nodes
        w = self.model.bend(self.own.unbend(u))
        center = w @ weights
        return center, ((w - center.unsqueeze(-1)).square() @ weights).clamp_min(LEAST)


PredictingProcess = LatentProcess | RewarpedProcess
