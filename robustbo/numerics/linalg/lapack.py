"""Cholesky factors of one small matrix, straight from LAPACK: a tensor's overhead would be most of the time.

Notation:
    B   n x n   symmetric positive definite array
    C   n x n   its lower Cholesky factor, in Fortran order; what lies above the diagonal means nothing
    V   n, or n x m in Fortran order
"""

import math
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from torch import Tensor

Array = NDArray[np.float64]

BLOCK = 256  # rows and columns that are copied at once: they stay in a core's cache


def quiet() -> np.errstate:
    """A context or decorator in which arrays overflow as tensors do, without a word."""
    return np.errstate(over="ignore", divide="ignore", invalid="ignore")


def factor(B: Array) -> tuple[Array, bool]:
    """C, and whether there is one; B is overwritten."""
    C, failed = lapack.dpotrf(B.T, lower=1, clean=0, overwrite_a=1)
    return C, failed == 0 and math.isfinite(C[-1, -1])  # which a NaN anywhere gets to


def forward(C: Array, V: Array) -> Array:
    """C^-1 V."""
    return lapack.dtrtrs(C, V, lower=1)[0] if V.size else V


def solve(C: Array, V: Array) -> Array:
    """B^-1 V."""
    return lapack.dpotrs(C, V, lower=1)[0]


def solution(B: Array, v: Array) -> tuple[Array, bool]:
    """B^-1 v, and whether B has a factor."""
    _, x, failed = lapack.dposv(B, v, lower=1)
    return x, failed == 0


def inverse(C: Array) -> Array:
    """B^-1, the whole of it; C is overwritten, and may be where it stands."""
    P, _ = lapack.dpotri(C, lower=1, overwrite_c=1)
    if len(P) <= BLOCK:
        return np.where(_lower(len(P)), P, P.T)
    for start in range(0, len(P), BLOCK):
        end = start + BLOCK
        inner = P[start:end, start:end]
        P[start:end, start:end] = np.where(_lower(len(inner)), inner, inner.T)
        P[start:end, end:] = P[end:, start:end].T
    return P.T


@lru_cache(maxsize=4)
def _lower(n: int) -> NDArray[np.bool_]:
    return np.tri(n, dtype=bool)


def as_tensor(x: float | Array) -> Tensor:
    """A number or an array as a tensor, in a quarter of the time of `torch.tensor`."""
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def on_diagonal(B: Array, more: Array | float) -> Array:
    """B itself, with so much more on its diagonal."""
    diagonal = np.einsum("ii->i", B)  # a view
    diagonal += more
    return B
