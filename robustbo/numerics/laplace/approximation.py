"""Laplace's approximation at a mode of the latent values: evidence, predictions, and what their gradients share.

Notation (no batch dimensions), beside that of `mode`:
    Sig  n x n   posterior covariance of the latent values, (K^-1 + D(W))^-1
    R    n x n   (K + D(W)^-1)^-1 = D(W) - D(W) Sig D(W)

References:
    docs/equations.md sections 2.2 to 2.4.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.laplace.mode import Place
from robustbo.numerics.laplace.signed_posterior import Posterior, posterior
from robustbo.numerics.linalg.lapack import Array

CLAMP = 1e-6  # the least curvature in the distributed paper's convention, and GPy's


@dataclass(frozen=True, eq=False)
class Approximation:
    """The approximation at a mode. R and v are made when first asked for: a search needs them only where it goes on.

    Attributes:
        L: Approximate log marginal likelihood.
        a: ``n`` values of K^-1 f.
        f: ``n`` latent values at the mode, less the mean.
        W: ``n`` curvatures with their signs.
        clamped: ``n`` curvatures as they enter determinant and covariance.
        signed: The posterior with the signed curvatures.
        posterior: The posterior with the curvatures as they enter.
    """

    L: Tensor
    a: Tensor
    f: Tensor
    W: Tensor
    clamped: Tensor
    signed: Posterior
    posterior: Posterior

    @cached_property
    def half_R(self) -> Array:
        """``n x n`` lower triangle of R with half of its diagonal."""
        return self.posterior.half_R

    @cached_property
    def R(self) -> Tensor:
        """``n x n``: the variance of a prediction is k** - k*' R k*, its mean m + k*' a."""
        return torch.from_numpy(self.half_R + self.half_R.T)

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `gp.posterior.Posterior`."""
        return k @ self.a, k @ self.R @ k.mT  # eq. 2.2.2, eq. 2.3.2

    @cached_property
    def v(self) -> Tensor:
        """``n`` posterior variances of the latent values, the diagonal of Sig."""
        clamped = self.clamped.numpy()
        if clamped.min() < CLAMP:
            return torch.from_numpy(self.posterior.variances)
        return torch.from_numpy((clamped - 2 * self.half_R.diagonal()) / (clamped * clamped))


class Entering(NamedTuple):
    """The curvatures as they enter determinant and covariance, and the posterior with them."""

    clamped: Array
    posterior: Posterior

    def log_evidence(self, log_normalizer: float, at: Place) -> float:
        """log p(y | f) - a'f / 2 - log|I + K D(W)| / 2; -inf where this is no strict maximum."""
        used = self.posterior
        return log_normalizer + at.Psi - 0.5 * used.log_det if used.is_maximum else -math.inf  # eq. 2.2.1


def entering(at: Place, signed: Posterior, is_clamped: bool) -> Entering:
    """With ``is_clamped`` those below `CLAMP` are replaced by it, else all keep their signs."""
    clamped = np.maximum(at.W, CLAMP) if is_clamped else at.W  # eq. 2.3.1
    used = posterior(signed.K, clamped) if is_clamped and bool((at.W < CLAMP).any()) else signed
    return Entering(clamped, used)


class Through(NamedTuple):
    """What a gradient of L has of the mode's own dependence on the hyperparameters.

    Attributes:
        K: ``n x n`` dL / dK, for a pullback; not symmetric, and right once its transpose is added.
        m: ``n`` contributions to dL / dm, whose sum it is for one constant m.
        variances: ``n`` posterior variances by which the curvatures' slopes count.
        Kz: ``n`` factors by which the slopes of g count.
    """

    K: Array
    m: Array
    variances: Array
    Kz: Array

    def along(self, log_p: Array, g: Array, W: Array) -> Array:
        """``n`` contributions to dL / dt, from the slopes of log p, g and W in t."""
        return log_p - 0.5 * self.variances * W + self.Kz * g  # eq. 2.4.3


def through(at: Approximation, W_slope: Array) -> Through:
    """One solve for all hyperparameters.

    Args:
        at: Where.
        W_slope: ``n`` values of dW / df.
    """
    a = at.a.numpy()
    variances = at.v.numpy() * (at.clamped.numpy() == at.W.numpy())
    s = -0.5 * variances * W_slope  # eq. 2.4.1
    z = at.signed.solve(s)
    Kz = at.signed.K @ z
    by_K = (0.5 * a + z)[:, None] * a  # eq. 2.4.5
    by_K -= at.half_R.T
    return Through(by_K, a + z, variances, Kz)  # eq. 2.4.4
