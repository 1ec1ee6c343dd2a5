"""What a fitted Gaussian process knows given its data, from one factorization: all that is asked of it afterwards.

Notation (no batch dimensions):
    P     n x n  inverse covariance of the observations, added variances included
    al    n      P (y - m)
    e, v  n      leave-one-out errors and variances, the observation's own added variance removed
    N     n      noise variance of an observation and its added one

References:
    docs/equations.md section 6.
"""

from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.gp.log_posterior import Model, log_posterior
from robustbo.numerics.gp.outlier_gain import left_out

LEAST = 1e-12  # of an observation's variance, which rounding leaves to the latent value


class Known(NamedTuple):
    """What is known given the data.

    Attributes:
        m: Constant mean.
        P: ``n x n``.
        al: ``n``.
        e: ``n``; also of observations that are cleared.
        v: ``n``.
    """

    m: Tensor
    P: Tensor
    al: Tensor
    e: Tensor
    v: Tensor


def known_at(model: Model, theta: Tensor, rho: Tensor) -> Known:
    """What is known at hyperparameters and ``n`` added variances at which the log posterior density is finite."""
    value = log_posterior(model, theta, rho)
    assert value.evidence.converged
    return Known(value.evidence.m, value.evidence.P, value.evidence.al, *left_out(model, value, rho))


def at_inputs(known: Known, y: Tensor, s2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Posterior means and variances of the latent values at the inputs of the data, ``n`` each; in O(n).

    What the others predict, and the observation itself: two normal densities of one number.

    Args:
        known: What is known.
        y: ``n`` observations.
        s2: ``n`` noise variances.
        rho: ``n`` added variances.
    """
    latent, N = (known.v - s2).maximum(LEAST * known.v), s2 + rho
    return y - known.e * N / (latent + N), latent * N / (latent + N)  # eq. 6.16
