"""The factors of one small symmetric matrix that need not be positive definite, straight from LAPACK.

Notation:
    B   n x n   symmetric array
    LD  n x n   unit lower triangular L and block diagonal D with B = P L D L' P', in one array as LAPACK has them
    V   n, or n x m

References:
    Bunch and Kaufman (1977), Some stable methods for calculating inertia and solving symmetric linear systems.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack as scipy_lapack

from robustbo.numerics.linalg.lapack import Array

PANEL = 32  # columns at a time: with LAPACK's 64 it takes a tenth longer at n = 200, a fifth at 400


class Indefinite(NamedTuple):
    """The factors of B.

    Attributes:
        LD: See above.
        pivots: ``n`` of LAPACK's, negative in pairs where D has a block of two rows.
        is_regular: Whether B is, and without NaN.
    """

    LD: Array
    pivots: NDArray[np.int32]
    is_regular: bool

    @property
    def num_negative(self) -> int:
        """Negative eigenvalues of B: those of D, whose blocks of two rows have one each."""
        single = self.LD.diagonal()[self.pivots > 0]
        return int(np.count_nonzero(single < 0)) + (len(self.LD) - len(single)) // 2

    @property
    def log_det(self) -> float:
        """log|det B|."""
        determinants = self.LD.diagonal().copy()
        i = (self.pivots < 0).nonzero()[0][::2]  # first rows of the blocks
        if len(i):
            determinants[i], determinants[i + 1] = determinants[i] * determinants[i + 1] - self.LD[i + 1, i] ** 2, 1.0
        return float(np.log(np.abs(determinants)).sum())

    def solve(self, V: Array) -> Array:
        """B^-1 V."""
        return scipy_lapack.dsytrs(self.LD, self.pivots, V, lower=1)[0]

    @property
    def half_inverse(self) -> Array:
        """``n x n`` lower triangle of B^-1 with half of its diagonal, which with its transpose is B^-1."""
        return scipy_lapack.dsytri(self.LD, self.pivots, lower=1)[0] * _half(len(self.LD))


def factor(B: Array) -> Indefinite:
    """The factors of B, which is overwritten. O(n^3)."""
    LD, pivots, failed = scipy_lapack.dsytrf(B.T, lower=1, lwork=PANEL * len(B), overwrite_a=1)
    return Indefinite(LD, pivots, failed == 0 and math.isfinite(LD[-1].sum()))  # where a NaN anywhere gets to


@lru_cache(maxsize=8)
def _half(n: int) -> Array:
    return np.asfortranarray(np.tri(n) - 0.5 * np.eye(n))
