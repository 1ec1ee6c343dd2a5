"""Products with a stationary kernel's matrix that is never there as a whole.

Notation:
    X    n x d  inputs, divided by their length-scales
    s2f         signal variance
    N    n      variances on the diagonal
    A    n x n  s2f times the correlations, plus D(N)
    u2          squared scaled distances

Memory: O(n) beside the operands. Work: O(n^2 d) a product, whatever the number of columns (up to dozens of them).
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import FORMS, SLOPES, Kernel, KernelGradient

TILE = 512  # rows and columns that are at work at once: 2 MiB, which stays in a core's cache


def correlation(kernel: str, X: Tensor, Z: Tensor) -> Tensor:
    """``n x m`` correlations of scaled ``n x d`` and ``m x d`` inputs."""
    u2 = torch.addmm(X.square().sum(-1, keepdim=True), X, Z.mT, alpha=-2.0).add_(Z.square().sum(-1))
    return FORMS[kernel](u2.clamp_min_(0.0), 0.0)[0]


def kernel_matrix(name: str, X: Tensor, l: Tensor, s2f: Tensor) -> Kernel:
    """``n x n`` or ``E x n x n`` kernel matrices of inputs, as `kernels.KERNELS`, without n x n x d numbers."""
    Z = (X - X.mean(-2, keepdim=True)) / l
    size = Z.square().sum(-1)
    u2 = size.unsqueeze(-1) + size.unsqueeze(-2)
    (u2.addmm_ if u2.dim() == 2 else u2.baddbmm_)(Z, Z.mT, alpha=-2.0).clamp_min_(0.0)
    K, slope = FORMS[name](u2, s2f.log())
    return Kernel(K, slope * (-0.5 * SLOPES[name]))  # eq. 0.3, eq. 0.4


def kernel_matrices(name: str, X: Tensor, l: Tensor, s2f: Tensor) -> Tensor:
    """`kernels_paired.kernel_matrices` of ``n x d`` inputs."""
    return kernel_matrix(name, X, l.unsqueeze(-2), s2f[:, None, None]).K


def pullback(G: Tensor, X: Tensor, l: Tensor, matrix: Kernel) -> KernelGradient:
    """`kernels_paired.pullback`, of stacks too: a sum of w_ij (x_i - x_j)^2 is one of products of X, w = G K_u2."""
    w, X = G * matrix.K_u2, X - X.mean(-2, keepdim=True)
    ends = ((w.sum(-1) + w.sum(-2)).unsqueeze(-1) * X.square()).sum(-2)
    return KernelGradient(-2 * (ends - 2 * (X * (w @ X)).sum(-2)) / l.square(), (G * matrix.K).sum((-2, -1)))


def tangents(w: Tensor, X: Tensor, l: Tensor, matrix: Kernel) -> Tensor:
    """`kernels_paired.tangents` of ``n x d`` inputs: three products with K_u2 a dimension."""
    X = (X - X.mean(-2, keepdim=True)).mT
    first, second, third = (matrix.K_u2 @ torch.stack([w.expand_as(X), X * w, X.square() * w]).mT).mT
    return -2 * (X.square() * first - 2 * X * second + third) / l.square().unsqueeze(-1)


def center_inputs(X: Tensor) -> Tensor:
    """Move scaled inputs about the origin, where squared distances by products are exact.

    They move by a multiple of 1,024, so that inputs that are there already stay as they are.
    """
    return X - (X.mean(-2, keepdim=True) / 1024).round() * 1024


class TiledCovariance(NamedTuple):
    """The covariance A of ``n`` observations, by its parts, whose products need no ``n x n`` matrix.

    Attributes:
        kernel: A name of `kernels.FORMS`.
        X: ``n x d`` scaled inputs.
        s2f: Signal variance.
        N: ``n`` variances on the diagonal.
    """

    kernel: str
    X: Tensor
    s2f: Tensor
    N: Tensor

    @property
    def diagonal(self) -> Tensor:
        """``n`` variances of the observations."""
        return self.s2f + self.N

    def latent(self, rows: Tensor) -> Tensor:
        """``n x k`` columns of the kernel's matrix."""
        return self.s2f * correlation(self.kernel, self.X, self.X[rows])

    def columns(self, rows: Tensor) -> Tensor:
        """``n x k`` columns of A."""
        columns = self.latent(rows)
        columns[rows, torch.arange(len(rows))] += self.N[rows]
        return columns

    def dense(self) -> Tensor:
        """A, where there is room for it."""
        return self.columns(torch.arange(len(self.X)))

    def times(self, W: Tensor) -> Tensor:
        """A W for ``n x k`` W, tile by tile; each tile serves both of its places, above the diagonal and below."""
        out = W * (self.N / self.s2f).unsqueeze(-1)
        tiles = list(_slices(len(self.X)))
        for i, rows in enumerate(tiles):
            for columns in tiles[i:]:
                tile = correlation(self.kernel, self.X[rows], self.X[columns])
                out[rows].addmm_(tile, W[columns])
                if columns != rows:
                    out[columns].addmm_(tile.mT, W[rows])
        return out.mul_(self.s2f)


def _slices(n: int) -> Iterator[slice]:
    return (slice(start, min(start + TILE, n)) for start in range(0, n, TILE))
