"""A chain of few observations: the inverse itself is updated, as often as an observation changes its side.

Notation: as in `population`, for one of its chains.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from robustbo.numerics.belief.chain import LEAST
from robustbo.numerics.linalg.lapack import Array


class DenseChain(NamedTuple):
    """Views of what a `Population` knows of one chain, which moves change.

    Attributes:
        K: ``n x n`` covariance of the latent values.
        r: ``n`` observations less the mean.
        noise: ``n`` noise variances that the right ones have at the moment.
        is_odd: ``n`` booleans.
        P: ``n x n`` inverse of K + diag(noise) over the right observations, zero elsewhere; contiguous.
        al: ``n`` values of P r.
        p: ``n`` values of the diagonal of P.
    """

    K: Array
    r: Array
    noise: Array
    is_odd: NDArray[np.bool_]
    P: Array
    al: Array
    p: Array

    def leave_one_out(self, i: int) -> tuple[float, float]:
        """Observation i less what the right ones but itself predict, and the variance of that prediction."""
        variance = self.K.item(i, i)
        if self.is_odd.item(i):
            k = self.K[i]
            weights = self.P @ k
            e, v = self.r.item(i) - float(weights @ self.r), variance - float(weights @ k)
        else:
            p = self.p.item(i)
            e, v = self.al.item(i) / p, 1 / p - self.noise.item(i)
        return e, max(v, LEAST * variance)

    def move(self, i: int, s2: float | None) -> None:
        """Let an observation be right with some noise variance, or odd (None)."""
        if self.is_odd.item(i):
            assert s2 is not None
            k, variance = self.K[i], self.K.item(i, i)
            w = -(self.P @ k)
            v = max(variance + float(w @ k), LEAST * variance)
            w[i], f = 1.0, 1 / (v + s2)
        else:
            w = self.P[i].copy()
            more = 0.0 if s2 is None else s2 - self.noise.item(i)
            f = -1 / w.item(i) if s2 is None else -more / (1 + more * w.item(i))
        blas.dger(f, w, w, a=self.P.T, overwrite_a=1)
        self.is_odd[i] = s2 is None
        if s2 is None:
            self.P[i] = self.P[:, i] = 0.0
        else:
            self.noise[i] = s2
        self.p[:] += f * np.square(w)
        self.p[i] = self.P[i, i]
        self.al[:] = self.P @ self.r
