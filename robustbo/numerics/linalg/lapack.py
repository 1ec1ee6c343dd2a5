"""Cholesky factors of one small matrix, straight from LAPACK: a tensor's overhead would be most of the time.

Notation:
    B   n x n   symmetric positive definite array
    C   n x n   its lower Cholesky factor, in Fortran order; what lies above the diagonal means nothing
    V   n, or n x m in Fortran order
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from torch import Tensor

Array = NDArray[np.float64]


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
    """B^-1, the whole of it; not a number where there is none.

    By torch: of a few hundred rows OpenBLAS takes two to three times as long to invert a triangle.
    """
    try:
        return torch.cholesky_inverse(torch.from_numpy(C)).mT.numpy()
    except torch.linalg.LinAlgError:
        return np.full_like(C, np.nan)


def inverse_root(C: Tensor) -> Tensor:
    """C^-1, of ``... x n x n`` factors: its transpose times itself is B^-1.

    What is predicted is best computed by it. Of a smooth function, B^-1 itself has numbers so large that what they
    explain of a variance is lost in their rounding: the error is that of a condition number, here of its root.
    """
    return torch.linalg.solve_triangular(C, torch.eye(C.shape[-1], dtype=C.dtype, device=C.device), upper=False)


def as_tensor(x: float | Array) -> Tensor:
    """A number or an array as a tensor, in a quarter of the time of `torch.tensor`."""
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def on_diagonal(B: Array, more: Array | float) -> Array:
    """B itself, with so much more on its diagonal."""
    diagonal = np.einsum("ii->i", B)  # a view
    diagonal += more
    return B
