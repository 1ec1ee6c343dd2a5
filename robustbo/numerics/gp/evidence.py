"""The log marginal likelihood of a Gaussian process with a constant mean, and its gradient.

Notation (shapes after any leading batch dimensions):
    Sg   n x n   covariance of the observations, K + sigma^2 I + D(rho)
    C    n x n   its lower Cholesky factor
    P    n x n   its inverse
    y    n       observations
    m            the constant mean that maximizes the likelihood, 1'P y / 1'P 1
    al   n       P (y - m)
    P1   n       P 1

References:
    docs/equations.md sections 4 (the generalized least squares mean) and 6.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array, as_tensor

LOG_2PI = math.log(2 * math.pi)


class Evidence(NamedTuple):
    """Log marginal likelihood, its gradient, and what else the factorization gives."""

    L: Tensor
    m: Tensor
    al: Tensor
    P: Tensor
    P1: Tensor
    log_det: Tensor
    C: Tensor
    converged: bool

    @property
    def root(self) -> Tensor:
        """``... x n x n`` inverse of C, with which predictions are exact to rounding; see `lapack.inverse_root`."""
        return lapack.inverse_root(self.C)

    @property
    def G(self) -> Tensor:
        """``... x n x n`` gradient (al al' - P) / 2 with respect to Sg; the mean is at its best and needs no term."""
        return torch.addcmul(self.P, self.al.unsqueeze(-1), self.al.unsqueeze(-2), value=-1.0).mul_(-0.5)  # eq. 6.5


def evidence(Sg: Tensor, y: Tensor, m: Tensor | None = None, *, is_spent: bool = False) -> Evidence:
    """Log marginal likelihood of observations with the best constant mean, and what its derivatives need.

    Args:
        Sg: ``... x n x n`` covariance of the observations; a single one must be the CPU's, in double precision.
        y: ``... x n`` observations.
        m: ``...`` constant mean; the best one by default.
        is_spent: Whether nobody needs a single Sg any more: its memory is used.

    Returns:
        ``...`` L = -(y - m)'P(y - m)/2 - log|Sg|/2 - n log(2 pi)/2, m, al, P, P1 = P 1, log|Sg|, and C, whose elements
        above the diagonal mean nothing; ``converged`` is False, and the rest meaningless, where Sg is not positive
        definite. O(n^3). Autograd does not follow a single one: `Evidence.G` is its gradient.
    """
    if Sg.dim() == 2:
        B = Sg.numpy() if is_spent else Sg.numpy().copy()
        return _single_evidence(B, y.numpy(), None if m is None else m.item())
    C, info = torch.linalg.cholesky_ex(Sg)
    P = torch.cholesky_inverse(C)
    P1 = torch.cholesky_solve(torch.ones_like(y).unsqueeze(-1), C).squeeze(-1)
    m = (P1 * y).sum(-1) / P1.sum(-1) if m is None else m  # eq. 4.9
    r = y - m.unsqueeze(-1)
    al = torch.cholesky_solve(r.unsqueeze(-1), C).squeeze(-1)
    log_det = 2 * C.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    L = -0.5 * ((r * al).sum(-1) + log_det + y.shape[-1] * LOG_2PI)  # eq. 6.1
    return Evidence(L, m, al, P, P1, log_det, C, not bool(info.any()))


def _single_evidence(Sg: Array, y: Array, m: float | None) -> Evidence:
    """`evidence` of one matrix, which is overwritten, by arrays: of few values tensors cost more than arithmetic."""
    with lapack.quiet():
        C, converged = lapack.factor(Sg)
        log_det = 2 * np.log(C.diagonal()).sum()
        P = lapack.inverse(C)
        P1 = lapack.solve(C, np.ones(len(y)))
        mean = P1 @ y / P1.sum() if m is None else m  # eq. 4.9
        r = y - mean
        al = lapack.solve(C, r)
        L = -0.5 * (r @ al + log_det + len(y) * LOG_2PI)  # eq. 6.1
    numbers = as_tensor(L), as_tensor(mean), as_tensor(al), as_tensor(P), as_tensor(P1)
    return Evidence(*numbers, as_tensor(log_det), as_tensor(C), converged)
