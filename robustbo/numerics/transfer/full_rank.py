"""Gain in log likelihood by an error atom of full rank, as the bias of a source is, at held hyperparameters.

Notation (no batch dimensions):
    L          n x n  lower Cholesky factor of the covariance of the observations without the atom
    K_d        n x n  the atom's covariance, but for its variance omega^2
    lambda, U         eigenvalues and eigenvectors of L^-1 K_d L^-T
    z          n      U' L^-1 (y - m)

References:
    docs/equations.md section 22; of rank one it is `numerics.sources.evidence`.
"""

import math
from typing import NamedTuple

import numpy as np

from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

VARIANCES = np.exp(np.linspace(math.log(1e-3), math.log(30.0), 24))  # of omega^2, in squared units of the outcomes


class AtomSpectrum(NamedTuple):
    """Observations in the directions of an atom.

    Attributes:
        values: ``n`` eigenvalues, not negative.
        z: ``n`` coordinates of the observations.
    """

    values: Array
    z: Array

    def gain(self, omega2: Array) -> Array:
        """``k`` gains in nats by the atom with ``k`` variances."""
        more = np.asarray(omega2)[..., None] * self.values
        return 0.5 * (np.square(self.z) * more / (1 + more) - np.log1p(more)).sum(-1)  # eq. 22.6

    def best(self) -> tuple[float, float]:
        """The variance among `VARIANCES` that gains most, and its gain in nats."""
        gains = self.gain(VARIANCES)
        return float(VARIANCES[gains.argmax()]), float(gains.max())


def spectrum(Sg: Array, K_d: Array, r: Array) -> AtomSpectrum:
    """The observations in the directions of an atom.

    Args:
        Sg: ``n x n`` covariance of the observations without the atom.
        K_d: ``n x n`` covariance of the atom, but for its variance.
        r: ``n`` observations less their mean.
    """
    C, _ = lapack.factor(Sg.copy())
    half = lapack.forward(C, np.asfortranarray(K_d))
    values, U = np.linalg.eigh(lapack.forward(C, np.asfortranarray(half.T)))
    return AtomSpectrum(np.maximum(values, 0.0), U.T @ lapack.forward(C, r))
