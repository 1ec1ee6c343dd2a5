"""Kernels of one set of points from its pairs: the matrix is symmetric, and each pair is computed once.

Tensors come in and go out; between, they are arrays, since with a few hundred points what a tensor's operation costs
beyond its arithmetic would be half of the time.

Notation, beside that of `kernels`:
    M      n (n - 1) / 2  pairs of points i < j
    D      d x M          squared differences of the inputs, one row a dimension

References:
    docs/equations.md section 0.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp.kernels import FORMS, SLOPES, KernelGradient
from robustbo.numerics.linalg.lapack import Array, as_tensor


class Pairs(NamedTuple):
    """The pairs of a set of points.

    Attributes:
        Z: ``d x n`` inputs, less their mean.
        D: ``d x M`` squared differences.
        places: ``2 M`` places of the pairs in a flattened ``n x n`` matrix, above the diagonal, then below.
        pair: ``n x n`` numbers of the pairs; M on the diagonal.
    """

    Z: Array
    D: Array
    places: NDArray[np.intp]
    pair: NDArray[np.intp]


class PairedKernel(NamedTuple):
    """A kernel at some length-scales.

    Attributes:
        K: ``n x n`` values.
        values: ``M + 1`` different values; the last is that of the diagonal.
        slope: ``M + 1`` derivatives of these with respect to u2, but for a factor.
        scale: ``d`` factors by which the slopes are multiplied for -2 K_u2 / l^2.
    """

    K: Tensor
    values: Array
    slope: Array
    scale: Array


def point_pairs(X: Tensor) -> Pairs:
    """The pairs of ``n x d`` inputs."""
    n, at, Z = len(X), X.mT.contiguous().numpy(), (X - X.mean(0)).mT.contiguous().numpy()
    i, j = np.triu_indices(n, 1)
    pair = np.full((n, n), len(i))
    pair[i, j] = pair[j, i] = np.arange(len(i))
    D = np.square(np.ascontiguousarray(at[:, i]) - at[:, j])  # of the inputs themselves: a far one would move the mean
    return Pairs(Z, D, np.concatenate([i * n + j, j * n + i]), pair)


def kernel_matrix(name: str, points: Pairs, l: Tensor, s2f: Tensor) -> PairedKernel:
    """Kernel matrix of a set of points, by the kernel's name."""
    u2, precision = np.zeros(points.D.shape[1] + 1), 1 / np.square(l.numpy())
    np.dot(precision, points.D, out=u2[:-1])
    values, slope = FORMS[name](u2, math.log(s2f))
    return PairedKernel(torch.from_numpy(values.take(points.pair)), values, slope, SLOPES[name] * precision)


def kernel_matrices(name: str, points: Pairs, l: Tensor, s2f: Tensor) -> Tensor:
    """``B x n x n`` values of the kernel at ``B x d`` length-scales and ``B`` signal variances."""
    u2 = np.zeros((len(l), points.D.shape[1] + 1))
    np.matmul(1 / np.square(l.numpy()), points.D, out=u2[:, :-1])
    values, _ = FORMS[name](u2, np.log(s2f.numpy())[:, None])
    return torch.from_numpy(values.take(points.pair, axis=1))


def pullback(G: Tensor, points: Pairs, l: Tensor, matrix: PairedKernel) -> KernelGradient:
    """The gradient with respect to the logarithms of the hyperparameters, from that with respect to K.

    Args:
        G: ``n x n`` values of dL/dK, symmetric or not.
        points: The pairs of the points.
        l: ``d`` length-scales.
        matrix: The kernel matrix at these.

    References:
        d K / d log l_j = -2 K_u2 D_j / l_j^2 and d K / d log s2f = K; docs/equations.md section 0.
    """
    above, below = G.numpy().ravel().take(points.places).reshape(2, -1)
    both = above + below
    log_s2f = both @ matrix.values[:-1] + np.trace(G.numpy()) * matrix.values[-1]
    both *= matrix.slope[:-1]  # eq. 0.4
    return KernelGradient(torch.from_numpy(points.D @ both * matrix.scale), as_tensor(log_s2f))


def tangents(w: Tensor, points: Pairs, l: Tensor, matrix: PairedKernel) -> Tensor:
    """``d x n`` derivatives of K w with respect to log l, as (d K / d log l_j) w: three products a dimension."""
    Z, v = points.Z, w.numpy()
    Zw = Z * v
    products = np.concatenate([v[None], Zw, Z * Zw]) @ matrix.slope.take(points.pair)
    first, second, third = products[0], products[1 : len(Z) + 1], products[len(Z) + 1 :]
    along = Z * (Z * first - 2 * second) + third
    return torch.from_numpy(along * matrix.scale[:, None])
