"""The posterior of a Gaussian process's latent values under curvatures of either sign, in Cholesky factors.

Notation, for arrays (beside that of `laplace`):
    Sig  n x n   posterior covariance of the latent values, (K^-1 + D(W))^-1
    R    n x n   (K + D(W)^-1)^-1 = D(W) - D(W) Sig D(W)
    W+   n       W, or `LEAST` where it is less: an error variance 1 / W+ that leaves nothing to learn

References:
    equations.md section 2.2.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics import lapack
from robustbo.numerics.lapack import Array

LEAST = 1e-300  # a curvature that tells nothing, and whose inverse, and all that is made of it, is finite


class Posterior(NamedTuple):
    """The posterior of latent values, in factors of R, see `posterior`.

    Attributes:
        K: ``n x n`` prior covariance.
        W_plus: ``n`` values of W+.
        N: Indices of the ``k`` observations whose W is negative.
        E: ``k`` square roots of |W| of these.
        C: ``n x n`` Cholesky factor of K + D(W+)^-1.
        T: ``n x k`` values of C^-1 K_N.
        C_N: ``k x k`` Cholesky factor of I - E (K_NN - T'T) E.
        is_maximum: Whether both factors exist: at a strict local maximum they do.
    """

    K: Array
    W_plus: Array
    N: NDArray[np.intp]
    E: Array
    C: Array
    T: Array
    C_N: Array
    is_maximum: bool

    @property
    def log_det(self) -> float:
        """log|I + K D(W)|."""
        each = self.C.diagonal() ** 2 * self.W_plus
        return float(np.log(each).sum() + 2 * np.log(self.C_N.diagonal()).sum())

    @property
    def R(self) -> Array:
        """``n x n``."""
        R = lapack.inverse(self.C)
        if not len(self.N):
            return R
        u = -lapack.backward(self.C, self.T).T
        u[np.arange(len(self.N)), self.N] += 1
        u = lapack.forward(self.C_N, np.asfortranarray(self.E[:, None] * u))
        R -= u.T @ u
        return R

    @property
    def variances(self) -> Array:
        """``n`` of the latent values, the diagonal of Sig."""
        t, u = self.whiten(self.K.T)
        return self.K.diagonal() - np.einsum("ij,ij->j", t, t) + np.einsum("ij,ij->j", u, u)

    def whiten(self, V: Array) -> tuple[Array, Array]:
        """Two matrices t (``n x m``) and u (``k x m``) with V' R V = t't - u'u, ``n x m`` V or a vector."""
        t = lapack.forward(self.C, V)
        if not len(self.N):
            return t, V[:0]
        u = V[self.N] - self.T.T @ t
        return t, lapack.forward(self.C_N, np.asfortranarray((u.T * self.E).T))

    def weigh(self, V: Array) -> Array:
        """R V, for ``n x m`` V, or ``n`` numbers."""
        t, u = self.whiten(V)
        if not len(self.N):
            return lapack.backward(self.C, t)
        w = (lapack.backward(self.C_N, u).T * self.E).T
        x = lapack.backward(self.C, t + self.T @ w)
        x[self.N] -= w
        return x

    def solve(self, b: Array) -> Array:
        """(I + D(W) K)^-1 b, for ``n`` numbers b."""
        return b - self.weigh(self.K @ b)


def posterior(K: Array, W: Array) -> Posterior:
    """The posterior of latent values under curvatures of either sign. O(n^3).

    K + D(W)^-1 is positive definite where all W are positive: so the observations are split by its sign. That is
    equations.md's I + D(W)^1/2 K D(W)^1/2 with rows and columns scaled, on which a Cholesky factor's errors do not
    depend.

    References:
        equations.md section 2.2.
    """
    W_plus, N = np.maximum(W, LEAST), (W < 0).nonzero()[0]
    C, is_positive = lapack.factor(lapack.on_diagonal(K.copy(), 1 / W_plus))
    if not len(N):
        return Posterior(K, W_plus, N, W_plus[:0], C, K[:, :0], K[:0, :0], is_positive)
    K_N, E = K[N], np.sqrt(-W[N])
    T = lapack.forward(C, K_N.T)
    B_N = (T.T @ T - K_N[:, N]) * E
    B_N *= E[:, None]
    C_N, is_positive_too = lapack.factor(lapack.on_diagonal(B_N, 1.0))
    return Posterior(K, W_plus, N, E, C, T, C_N, is_positive and is_positive_too)
