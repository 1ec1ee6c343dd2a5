"""Prediction cache of a fitted Gaussian process: what predictions and diagnoses need, from one factorization.

Notation (no batch dimensions):
    P     n x n  inverse covariance of the observations, added variances included: root' root
    al    n      P (y - m)
    e, v  n      leave-one-out errors and variances, the observation's own added variance removed
    N     n      noise variance of an observation and its added one

References:
    docs/equations.md section 6.
"""

from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import raw_errors

LEAST = 1e-12  # of an observation's variance, which rounding leaves to the latent value


class PredictionCache(NamedTuple):
    """Quantities of a Gaussian process given its data, from which predictions and leave-one-out errors follow.

    Attributes:
        m: Constant mean.
        root: ``n x n``.
        al: ``n``.
        e: ``n``; also of observations that are cleared.
        v: ``n``.
    """

    m: Tensor
    root: Tensor
    al: Tensor
    e: Tensor
    v: Tensor

    @property
    def P_diagonal(self) -> Tensor:
        """``n`` values of the diagonal of P."""
        return self.root.square().sum(0)

    def P_among(self, rows: Tensor) -> Tensor:
        """``k x k`` elements of P."""
        part = self.root[:, rows]
        return part.mT @ part


def prediction_cache(model: Model, theta: Tensor, rho: Tensor) -> PredictionCache:
    """Prediction cache at hyperparameters and ``n`` added variances, where the log posterior density is finite."""
    value = log_posterior(model, theta, rho)
    assert value.evidence.converged
    return PredictionCache(value.evidence.m, value.evidence.root, value.evidence.al, *raw_errors(value, rho))


def posterior_at_inputs(cache: PredictionCache, y: Tensor, s2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Posterior means and variances of the latent values at the inputs of the data, ``n`` each; in O(n).

    They multiply two normal densities of one number: the prediction by the others, and the observation itself.

    Args:
        cache: The prediction cache.
        y: ``n`` observations.
        s2: ``n`` noise variances.
        rho: ``n`` added variances.
    """
    latent, N = (cache.v - s2).maximum(LEAST * cache.v), s2 + rho
    return y - cache.e * N / (latent + N), latent * N / (latent + N)  # eq. 6.16
