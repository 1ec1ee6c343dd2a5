"""Overlap of sources: an error of one can be told from the objective's own shape where others measured there, too.

Where a source measured one region alone, being measured by it is a function of the input, and so an error of the source
is one that the objective may have there. So its indicator is predicted from the inputs, each row by all others.

Notation (no batch dimensions):
    a  n      an atom
    R  n x n  correlation of the latent values, with the noise `NOISE`

References:
    docs/equations.md section 20.
"""

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.linalg.lapack import Array

NOISE = 0.1  # of the indicator's variance
FACTORS = (1.0, 0.5, 0.25)  # of the length-scales of the objective: an indicator changes faster than it
EXPLAINED = 0.3  # share of the variance of an indicator that the inputs explain, from which on they tell it
MOST = 256  # rows that are looked at


class Overlap:
    """The share of atoms that the inputs explain, each row predicted by all others.

    Args:
        X: ``n x d`` inputs.
    """

    def __init__(self, X: Tensor) -> None:
        n = len(X)
        self._rows = np.arange(n) if n <= MOST else np.arange(MOST) * n // MOST
        self._differences = squared_differences(X[self._rows], X[self._rows])
        self._last: tuple[bytes, list[Array]] = b"", []

    def share(self, lengthscales: Tensor, A: Array) -> Array:
        """The share of the variance of ``n x k`` atoms that the inputs explain.

        Args:
            lengthscales: ``d`` length-scales of the objective.
            A: ``n x k`` atoms.
        """
        A = A[self._rows]
        return np.max([_share(P, A) for P in self._precisions(lengthscales)], axis=0)

    def is_distinguishable(self, lengthscales: Tensor, A: Array) -> bool:
        """Return whether an atom of ``n x k`` numbers is none that the inputs tell."""
        return bool((self.share(lengthscales, A) < EXPLAINED).all())

    def _precisions(self, lengthscales: Tensor) -> list[Array]:
        """The inverse correlations of the rows at some length-scales; the last ones are kept, as many atoms ask."""
        key = lengthscales.numpy().tobytes()
        if self._last[0] != key:
            self._last = key, [_precision(self._differences, factor * lengthscales) for factor in FACTORS]
        return self._last[1]


def _precision(differences: Tensor, lengthscales: Tensor) -> Array:
    R = KERNELS["matern52"](differences, lengthscales, torch.ones_like(lengthscales[0])).K.numpy()
    P = np.linalg.inv(R + NOISE * np.eye(len(R)))
    P1 = P.sum(-1)
    precision: Array = P - np.outer(P1, P1) / P1.sum()
    return precision


def _share(P: Array, A: Array) -> Array:
    errors = (P @ A) / P.diagonal()[:, None]
    apart = (A - A.mean(0)) * len(A) / (len(A) - 1)  # without inputs a row is predicted by the mean of all others
    return 1 - np.square(errors).sum(0) / np.maximum(np.square(apart).sum(0), 1e-12)  # eq. 20.9
