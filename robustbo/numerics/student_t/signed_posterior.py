"""The posterior of a Gaussian process's latent values under curvatures of either sign, by one factorization.

Notation, for arrays (beside that of `laplace`):
    Sig  n x n   posterior covariance of the latent values, (K^-1 + D(W))^-1
    R    n x n   (K + D(W)^-1)^-1 = D(W) - D(W) Sig D(W)

References:
    docs/equations.md section 2.2.
"""

from typing import NamedTuple

import numpy as np

from robustbo.numerics.linalg import lapack, ldlt
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.linalg.ldlt import Indefinite

LEAST = 1e-300  # a curvature that tells nothing, and whose inverse, and all that is made of it, is finite


class SignedPosterior(NamedTuple):
    """The posterior of latent values, see `signed_posterior`.

    Attributes:
        K: ``n x n`` prior covariance.
        V: ``n`` values of 1 / W, finite ones.
        factors: Of K + D(V).
        is_maximum: Whether Sig is positive definite: at a strict local maximum it is.
    """

    K: Array
    V: Array
    factors: Indefinite
    is_maximum: bool

    @property
    def log_det(self) -> float:
        """log|I + K D(W)|."""
        return self.factors.log_det - float(np.log(np.abs(self.V)).sum())  # eq. 2.2.6

    @property
    def half_R(self) -> Array:
        """``n x n`` lower triangle of R with half of its diagonal."""
        return self.factors.half_inverse

    @property
    def variances(self) -> Array:
        """``n`` of the latent values, the diagonal of Sig."""
        return self.K.diagonal() - self.variance_reduction(self.K)

    def variance_reduction(self, k: Array) -> Array:
        """``m`` values of k' R k, for an ``n x m`` k: how much less than the prior variance a prediction's is."""
        return np.einsum("ij,ij->j", k, self.factors.solve(k))  # eq. 2.2.2

    def solve(self, b: Array) -> Array:
        """(I + D(W) K)^-1 b, for ``n`` numbers b."""
        return b - self.factors.solve(self.K @ b)  # eq. 2.2.7


def signed_posterior(K: Array, W: Array) -> SignedPosterior:
    """The posterior of latent values under curvatures of either sign. O(n^3).

    Sig is positive definite where K + D(W)^-1 has as many negative eigenvalues as W has negative elements: both are
    Schur complements in one matrix of blocks D(W)^-1, 1, 1 and -K^-1, so their inertias add up alike (Haynsworth).
    That takes one factorization, where docs/equations.md has a Cholesky factor of what is positive and another of
    the rest.

    References:
        docs/equations.md section 2.2.
    """
    V = 1 / np.where(np.abs(W) < LEAST, LEAST, W)
    factors = ldlt.factor(lapack.on_diagonal(K.copy(), V))  # eq. 2.2.7
    return SignedPosterior(K, V, factors, factors.is_regular and factors.num_negative == np.count_nonzero(V < 0))
