"""The log marginal likelihood of a Gaussian process with a constant mean, and its gradient.

Notation (shapes after any leading batch dimensions):
    Sg   n x n   covariance of the observations, K + sigma^2 I + D(rho)
    P    n x n   its inverse
    y    n       observations
    m            the constant mean that maximizes the likelihood, 1'P y / 1'P 1
    al   n       P (y - m)
    G    n x n   dL / dSg

References:
    equations.md sections 4 (the generalized least squares mean) and 6.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

LOG_2PI = math.log(2 * math.pi)


class Evidence(NamedTuple):
    """Log marginal likelihood, its gradient, and what else the factorization gives."""

    L: Tensor
    G: Tensor
    m: Tensor
    al: Tensor
    P: Tensor
    converged: bool


def evidence(Sg: Tensor, y: Tensor) -> Evidence:
    """Log marginal likelihood of observations with the best constant mean, and its gradient.

    The mean maximizes the likelihood, so the gradient with respect to Sg needs no term for it.

    Args:
        Sg: ``... x n x n`` covariance of the observations.
        y: ``... x n`` observations.

    Returns:
        ``...`` L = -(y - m)'P(y - m)/2 - log|Sg|/2 - n log(2 pi)/2, ``... x n x n`` G = (al al' - P)/2, and m, al, P;
        ``converged`` is False, and the rest meaningless, where Sg is not positive definite. O(n^3).
    """
    C, info = torch.linalg.cholesky_ex(Sg)
    P = torch.cholesky_inverse(C)
    P1 = P.sum(-1)
    m = (P1 * y).sum(-1) / P1.sum(-1)
    r = y - m.unsqueeze(-1)
    al = (P @ r.unsqueeze(-1)).squeeze(-1)
    log_det = 2 * C.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    L = -0.5 * ((r * al).sum(-1) + log_det + y.shape[-1] * LOG_2PI)
    return Evidence(L, 0.5 * (al.unsqueeze(-1) * al.unsqueeze(-2) - P), m, al, P, not bool(info.any()))
