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
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.linalg.lapack import Array

NOISE = 0.1  # of the indicator's variance
FACTORS = (1.0, 0.5, 0.25)  # of the length-scales of the objective: an indicator changes faster than it
EXPLAINED = 0.3  # share of the variance of an indicator that the inputs explain, from which on they tell it
LEAST = 1e-12  # variance of a vector that is constant
MOST = 256  # rows that are looked at; of more half are an atom's own


class Overlap:
    """The share of atoms that the inputs explain, each row predicted by all others.

    Args:
        X: ``n x d`` inputs.
    """

    def __init__(self, X: Tensor) -> None:
        self._X, self._order = X, np.random.default_rng(0).permutation(len(X))
        self._last: tuple[bytes, list[Array]] = b"", []

    def share(self, lengthscales: Tensor, A: Array) -> float:
        """The share of the variance of an atom that the inputs explain, of the vector that they explain best.

        Args:
            lengthscales: ``d`` length-scales of the objective.
            A: ``n x k`` numbers of the atom.
        """
        rows = self._rows_for(A)
        return float(max(_share(P, A[rows]).max() for P in self._precisions(lengthscales, rows)))

    def is_distinguishable(self, lengthscales: Tensor, A: Array) -> bool:
        """Return whether an atom of ``n x k`` numbers is none that the inputs tell."""
        return self.share(lengthscales, A) < EXPLAINED

    def _rows_for(self, A: Array) -> NDArray[np.intp]:
        """The rows that are looked at: of many a random part, in which the atom has rows of its own."""
        if len(A) <= MOST:
            return np.arange(len(A))
        is_own = A[self._order].any(-1)
        own, rest = self._order[is_own], self._order[~is_own]
        return np.sort(np.concatenate([own[: MOST // 2], rest, own[MOST // 2 :]])[:MOST])

    def _precisions(self, lengthscales: Tensor, rows: NDArray[np.intp]) -> list[Array]:
        """The inverse correlations of some rows; the last ones are kept, as many atoms ask for the same."""
        key = lengthscales.numpy().tobytes() + rows.tobytes()
        if self._last[0] != key:
            differences = squared_differences(self._X[rows], self._X[rows])
            self._last = key, [_precision(differences, factor * lengthscales) for factor in FACTORS]
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
    variance = np.square(apart).sum(0)
    is_constant = variance < LEAST  # of these rows: nothing to explain
    return np.where(is_constant, 0.0, 1 - np.square(errors).sum(0) / np.where(is_constant, 1.0, variance))  # eq. 20.9
