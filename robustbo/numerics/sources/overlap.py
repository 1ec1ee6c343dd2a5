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


def share_of_inputs(X: Tensor, lengthscales: Tensor, A: Array) -> Array:
    """The share of the variance of ``n x k`` atoms that the inputs explain, each row predicted by all others.

    Args:
        X: ``n x d`` inputs.
        lengthscales: ``d`` length-scales of the objective.
        A: ``n x k`` atoms.
    """
    rows = np.arange(len(A)) if len(A) <= MOST else np.arange(MOST) * len(A) // MOST
    A, differences = A[rows], squared_differences(X[rows], X[rows])
    shares = [_share(differences, factor * lengthscales, A) for factor in FACTORS]
    return np.max(shares, axis=0)


def _share(differences: Tensor, lengthscales: Tensor, A: Array) -> Array:
    R = KERNELS["matern52"](differences, lengthscales, torch.ones_like(lengthscales[0])).K.numpy()
    P = np.linalg.inv(R + NOISE * np.eye(len(R)))
    P1 = P.sum(-1)
    P = P - np.outer(P1, P1) / P1.sum()
    errors = (P @ A) / P.diagonal()[:, None]
    apart = (A - A.mean(0)) * len(A) / (len(A) - 1)  # without inputs a row is predicted by the mean of all others
    return 1 - np.square(errors).sum(0) / np.maximum(np.square(apart).sum(0), 1e-12)  # eq. 20.9


def is_distinguishable(X: Tensor, lengthscales: Tensor, A: Array) -> bool:
    """Return whether an atom of ``n x k`` numbers is none that the inputs tell."""
    return bool((share_of_inputs(X, lengthscales, A) < EXPLAINED).all())
