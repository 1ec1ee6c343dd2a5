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
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from robustbo.numerics.linalg.lapack import Array

Numbers = TypeVar("Numbers", Array, Tensor)


def matern52(u2: Numbers, log_s2f: float | Tensor) -> tuple[Numbers, Numbers]:
    """Matern-5/2 of squared scaled distances, whose memory it takes: K, and K_u2 times -6/5.

    K = s2f (1 + sqrt5 u + 5 u^2 / 3) exp(-sqrt5 u), K_u2 = -s2f (5/6) (1 + sqrt5 u) exp(-sqrt5 u).
    """
    u2 *= 5.0
    u = _root(u2)
    decay = _exponential(log_s2f - u)
    more = decay * u
    decay += more
    more *= u
    more *= 1 / 3
    more += decay  # eq. 0.2
    return more, decay


def rbf(u2: Numbers, log_s2f: float | Tensor) -> tuple[Numbers, Numbers]:
    """Squared exponential of squared scaled distances, whose memory it takes: K = s2f exp(-u^2 / 2) = -2 K_u2."""
    u2 *= -0.5
    u2 += log_s2f
    K = _exponential(u2)  # eq. 0.1
    return K, K


FORMS: dict[str, Callable[..., Any]] = {"matern52": matern52, "rbf": rbf}
SLOPES = {"matern52": 5 / 3, "rbf": 1.0}  # by which what they give is to be multiplied for -2 K_u2


def _root(x: Numbers) -> Numbers:
    return x.sqrt_() if isinstance(x, Tensor) else np.sqrt(x, out=x)


def _exponential(x: Numbers) -> Numbers:
    return x.exp_() if isinstance(x, Tensor) else np.exp(x, out=x)


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


class _Correlation(torch.autograd.Function):
    """Correlations of squared scaled distances, and -2 / `SLOPES` of their derivatives, by which autograd goes on."""

    @staticmethod
    def forward(ctx: Any, u2: Tensor, name: str) -> tuple[Tensor, Tensor]:
        correlation, slope = FORMS[name](u2.clone(), 0.0)
        slope = slope.clone() if slope is correlation else slope  # or autograd would not go on by either
        ctx.name = name
        ctx.save_for_backward(slope)
        ctx.mark_non_differentiable(slope)
        return correlation, slope

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, on_correlation: Tensor, _: Tensor) -> tuple[Tensor, None]:
        return on_correlation * ctx.saved_tensors[0] * (-0.5 * SLOPES[ctx.name]), None


def kernel_matrix(name: str, D: Tensor, l: Tensor, s2f: Tensor) -> Kernel:
    """A kernel by its name, of ``... x d x n x m`` squared differences; autograd can follow K, and K alone."""
    correlation, slope = _Correlation.apply(_scaled_distance(D, l), name)
    s2f = s2f[..., None, None]
    return Kernel(s2f * correlation, slope * (-0.5 * SLOPES[name] * s2f))  # eq. 0.3, eq. 0.4


KERNELS: dict[str, Callable[[Tensor, Tensor, Tensor], Kernel]] = {name: partial(kernel_matrix, name) for name in FORMS}
