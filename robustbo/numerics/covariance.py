"""Covariance functions with priors on their hyperparameters, as a search over hyperparameters sees them.

Notation (no batch dimensions: a search is one search):
    D      d x n x n  squared differences of the inputs
    l      d          length-scales
    s2f               signal variance
    theta  p          logarithms of the hyperparameters that are free
    G      n x n      dL / dK
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.evidence import LOG_2PI
from robustbo.numerics.kernels import KERNELS, pullback

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

    def log_density(self, log_x: Tensor) -> Tensor:
        """Log density at exp(log_x)."""
        z = (log_x - self.loc) / self.scale
        return -0.5 * z.square() - log_x - math.log(self.scale) - 0.5 * LOG_2PI

    def slope(self, log_x: Tensor) -> Tensor:
        """Derivative of the log density with respect to log_x."""
        return -(log_x - self.loc) / self.scale**2 - 1


class Covariance(NamedTuple):
    """A covariance matrix at some theta.

    Attributes:
        K: ``n x n`` covariance of the latent values.
        log_prior: Log prior density of theta.
        pullback: From dL/dK to the ``p`` derivatives of L plus the log prior.
    """

    K: Tensor
    log_prior: Tensor
    pullback: Callable[[Tensor], Tensor]


class CovarianceFunction(NamedTuple):
    """A covariance as a function of theta, where a cold search begins, and its ``p`` bounds."""

    at: Callable[[Tensor], Covariance]
    start: Tensor
    bounds: list[tuple[float, float]]


def stationary(D: Tensor, kernel: str, l_prior: LogNormal, s2f_prior: LogNormal | None) -> CovarianceFunction:
    """A stationary kernel with ARD: theta is log l, then log s2f unless ``s2f_prior`` is None, which fixes it at 1.

    Args:
        D: ``d x n x n`` squared differences.
        kernel: A name of `KERNELS`.
        l_prior: Prior of each length-scale.
        s2f_prior: Prior of the signal variance.
    """
    d, one = len(D), torch.ones((), dtype=D.dtype)

    def at(theta: Tensor) -> Covariance:
        l = theta[:d].exp()
        found = KERNELS[kernel](D, l, one if s2f_prior is None else theta[d].exp())
        log_prior = l_prior.log_density(theta[:d]).sum()
        slopes = l_prior.slope(theta[:d])
        if s2f_prior is not None:
            log_prior = log_prior + s2f_prior.log_density(theta[d])
            slopes = torch.cat([slopes, s2f_prior.slope(theta[d:])])

        def back(G: Tensor) -> Tensor:
            log_l, log_s2f = pullback(G, D, l, found)
            return slopes + (log_l if s2f_prior is None else torch.cat([log_l, log_s2f.unsqueeze(0)]))

        return Covariance(found.K, log_prior, back)

    free = s2f_prior is not None
    start = torch.tensor([l_prior.log_mode] * d + [0.0] * free, dtype=D.dtype)
    return CovarianceFunction(at, start, [LOG_L] * d + [LOG_S2F] * free)
