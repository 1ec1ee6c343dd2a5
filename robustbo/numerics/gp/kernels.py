"""Stationary kernels with ARD of the differences between any two sets of points.

Notation (shapes after any leading batch dimensions):
    D      d x n x m   squared differences of the inputs, one slice a dimension
    l      d           length-scales
    s2f                signal variance
    u2     n x m       sum_j D_j / l_j^2, the squared scaled distance
    K      n x m       s2f times the correlation
    K_u2   n x m       dK / d(u2)

Cost: O(d n m).

References:
    docs/equations.md section 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

SQRT5 = 5**0.5
TINY = 1e-30  # squared distance below which the root's slope, infinite at zero, is no more followed


class Kernel(NamedTuple):
    """A kernel matrix and its derivative with respect to the squared scaled distance."""

    K: Tensor
    K_u2: Tensor


class KernelGradient(NamedTuple):
    """The gradient of a scalar with respect to log l (``... x d``) and log s2f (``...``)."""

    log_l: Tensor
    log_s2f: Tensor


def squared_differences(X: Tensor, Z: Tensor) -> Tensor:
    """``... x d x n x m`` squared differences, by dimension, of ``... x n x d`` and ``... x m x d`` inputs."""
    return (X.mT.unsqueeze(-1) - Z.mT.unsqueeze(-2)).square()


def _scaled_distance(D: Tensor, l: Tensor) -> Tensor:
    flat = D.flatten(-2)
    return (l.pow(-2).unsqueeze(-2) @ flat).squeeze(-2).unflatten(-1, D.shape[-2:])


def matern52(D: Tensor, l: Tensor, s2f: Tensor) -> Kernel:
    """Matern-5/2: K = s2f (1 + sqrt5 u + 5 u^2 / 3) exp(-sqrt5 u), K_u2 = -s2f (5/6) (1 + sqrt5 u) exp(-sqrt5 u)."""
    u = SQRT5 * _scaled_distance(D, l).clamp_min(TINY).sqrt()
    decay = s2f[..., None, None] * torch.exp(-u)
    slope = torch.addcmul(decay, decay, u)  # eq. 0.4
    return Kernel(torch.addcmul(slope, decay, u.square(), value=1 / 3), slope * (-5 / 6))  # eq. 0.2


def rbf(D: Tensor, l: Tensor, s2f: Tensor) -> Kernel:
    """Squared exponential: K = s2f exp(-u^2 / 2), K_u2 = -K / 2."""
    K = s2f[..., None, None] * torch.exp(-0.5 * _scaled_distance(D, l))  # eq. 0.1
    return Kernel(K, -0.5 * K)  # eq. 0.3


KERNELS: dict[str, Callable[[Tensor, Tensor, Tensor], Kernel]] = {"matern52": matern52, "rbf": rbf}
