"""Covariance functions with priors on their hyperparameters, as a search over hyperparameters sees them.

Notation (no batch dimensions: a search is one search):
    X      n x d  inputs
    l      d      length-scales
    s2f           signal variance
    theta  p      logarithms of the hyperparameters that are free
    G      n x n  dL / dK
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels_paired, kernels_tiled
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg.lapack import Array, as_tensor

MANY = 256  # points beyond which kernels come from products of inputs: faster there, exact to rounding of their squares
FACTORS = (1.0, 2.0, 0.5)  # of the prior's mode: length-scales of the starts

T = TypeVar("T", float, Tensor)

ONE = as_tensor(1.0)
LOG_L = (math.log(2.5e-2), math.log(1e3))  # the lower bound is BoTorch's
LOG_S2F = (math.log(1e-3), math.log(1e6))


class LogNormal(NamedTuple):
    """A log-normal prior, as a density of the parameter itself (not of its logarithm)."""

    loc: float
    scale: float

    @property
    def log_mode(self) -> float:
        """Logarithm of the most probable value."""
        return self.loc - self.scale**2

    def log_density(self, log_x: T) -> T:
        """Log density at exp(log_x)."""
        return -0.5 * ((log_x - self.loc) / self.scale) ** 2 - log_x - math.log(self.scale) - 0.5 * LOG_2PI

    def slope(self, log_x: T) -> T:
        """Derivative of the log density with respect to log_x."""
        return -(log_x - self.loc) / self.scale**2 - 1


class LogNormals:
    """Log-normal priors of several parameters at once."""

    def __init__(self, priors: Sequence[LogNormal]) -> None:
        self.loc, self.scale = np.array([prior.loc for prior in priors]), np.array([prior.scale for prior in priors])
        self._constant = float(np.log(self.scale).sum() + 0.5 * LOG_2PI * len(priors))

    def log_density(self, log_x: Array) -> float:
        """The sum of the log densities at exp(log_x)."""
        z = (log_x - self.loc) / self.scale
        return float(-0.5 * (z @ z) - log_x.sum()) - self._constant

    def slopes(self, log_x: Array) -> Array:
        """The derivatives of the log densities with respect to log_x."""
        return (self.loc - log_x) / np.square(self.scale) - 1


class Covariance(NamedTuple):
    """A covariance matrix at some theta.

    Attributes:
        K: ``n x n`` covariance of the latent values.
        log_prior: Log prior density of theta.
        pullback: From dL/dK to the ``p`` derivatives of L plus the log prior.
        tangents: From ``n`` numbers w to the ``p x n`` derivatives of K w; None where only the pullback is known.
    """

    K: Tensor
    log_prior: float
    pullback: Callable[[Tensor], Tensor]
    tangents: Callable[[Tensor], Tensor] | None = None


class CovarianceFunction(NamedTuple):
    """A covariance as a function of theta.

    Attributes:
        at: The covariance at ``p`` hyperparameters.
        starts: Where cold searches begin, the most plausible first.
        bounds: ``p`` pairs.
        prior_precision: ``p`` negative second derivatives of the log prior; None where `Covariance.tangents` is.
    """

    at: Callable[[Tensor], Covariance]
    starts: tuple[Tensor, ...]
    bounds: list[tuple[float, float]]
    prior_precision: Tensor | None = None


def stationary(X: Tensor, kernel: str, l_prior: LogNormal, s2f_prior: LogNormal | None) -> CovarianceFunction:
    """A stationary kernel with ARD: theta is log l, then log s2f unless ``s2f_prior`` is None, which fixes it at 1.

    Args:
        X: ``n x d`` inputs.
        kernel: A name of `kernels.KERNELS`.
        l_prior: Prior of each length-scale.
        s2f_prior: Prior of the signal variance.
    """
    d = X.shape[-1]
    way, given = (kernels_tiled, X) if len(X) > MANY else (kernels_paired, kernels_paired.pairs(X))
    priors = LogNormals([l_prior] * d + ([] if s2f_prior is None else [s2f_prior]))

    def at(theta: Tensor) -> Covariance:
        log_x = theta.numpy()
        x = as_tensor(np.exp(log_x))
        l, s2f = x[:d], ONE if s2f_prior is None else x[d]
        found = way.kernel(kernel, given, l, s2f)

        def back(G: Tensor) -> Tensor:
            log_l, log_s2f = way.pullback(G, given, l, found)
            slopes = priors.slopes(log_x)
            slopes[:d] += log_l.numpy()
            slopes[d:] += log_s2f.item()
            return as_tensor(slopes)

        def along(w: Tensor) -> Tensor:
            log_l = way.tangents(w, given, l, found)
            return log_l if s2f_prior is None else torch.cat([log_l, (found.K @ w).unsqueeze(0)])

        return Covariance(found.K, priors.log_density(log_x), back, along)

    starts = tuple(
        X.new_tensor([l_prior.log_mode + math.log(f)] * d + [0.0] * (len(priors.scale) - d)) for f in FACTORS
    )
    precision = as_tensor(priors.scale**-2)
    return CovarianceFunction(at, starts, [LOG_L] * d + [LOG_S2F] * (len(priors.scale) - d), precision)
