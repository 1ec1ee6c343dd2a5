"""Noisy expected improvement: the logarithm, for one point at a time, with its gradient.

The best value so far is unknown where measurements are noisy or suspicious. So latent values are sampled at all points
measured or asked (the baseline); given such a sample the improvement of a new point has a closed form, and the mean
over the samples is taken. Monte Carlo qLogNEI of one point is the same expectation with the new point sampled too.
Tensors come in and go out; what is computed at every step of a maximization is arrays, as in `gp.kernels_paired`.

Notation (shapes after any leading batch dimensions, which are those of the processes; points have none):
    Z      z x d   baseline
    K      z x z   prior covariance of the latent values there, with some jitter
    f      S x z   samples of them, given the data
    a      z x S   K^-1 (f - m)
    best   S       the largest value of each sample
    k      b x z   prior covariance of b new points with the baseline
    W      b x z   k K^-1
    M, V   b x S, b   mean and variance of a new point's value, given each sample
    u      b x S   (M - best) / sqrt(V)
    phi, Phi, h    density, distribution function and expected improvement at u, see `normal`: h' = Phi

References:
    Letham, Karrer, Ottoni and Bakshy (2019), Constrained Bayesian optimization with noisy experiments, section 4.2;
    Ament et al. (2023), Unexpected improvements to expected improvement, for the logarithm.
"""

import math
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from robustbo.errors import NumericalError
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.kernels_paired import KERNELS, SLOPES
from robustbo.numerics.gp.leave_one_out import factor
from robustbo.numerics.gp.posterior import Latent
from robustbo.numerics.improvement.normal import LIMIT, scaled
from robustbo.numerics.linalg.lapack import Array

JITTER = 1e-6  # of the signal variance: the baseline may hold the same point twice
JITTERS = (JITTER, 1e-5, 1e-4, 1e-3, 1e-2)


class Improvement(NamedTuple):
    """All that the improvement of a new point depends on."""

    latent: Latent
    Z: Tensor
    K_inverse: Tensor
    a: Tensor
    best: Tensor


def over(latent: Latent, Z: Tensor, normal: Tensor, counts: Tensor | None = None) -> Improvement:
    """The improvement over a baseline.

    Args:
        latent: The process given data.
        Z: ``z x d`` baseline; must hold all inputs of the data.
        normal: ``S x z`` standard normal numbers.
        counts: ``z`` booleans: of which the best is to be improved upon; of all unless given.
    """
    prior, cross = (torch.from_numpy(_kernel(latent, Z.numpy(), X.numpy()).k) for X in (Z, latent.X))
    posterior = prior - cross @ latent.P @ cross.mT
    prior.diagonal(dim1=-2, dim2=-1).add_(JITTER * latent.s2f.unsqueeze(-1))
    root = _root(posterior, latent.s2f)
    f = (cross @ latent.al.unsqueeze(-1)).mT + normal @ root.mT  # less the mean
    K_inverse = torch.cholesky_inverse(factor(prior).L)
    best = (f if counts is None else f[..., counts]).amax(-1)
    return Improvement(latent, Z, K_inverse, K_inverse @ f.mT, latent.m.unsqueeze(-1) + best)


def _root(posterior: Tensor, s2f: Tensor) -> Tensor:
    """A factor of a posterior covariance, whose rounding errors may exceed it where noise is as good as none."""
    for jitter, before in zip(JITTERS, (0.0, *JITTERS), strict=False):
        posterior.diagonal(dim1=-2, dim2=-1).add_((jitter - before) * s2f.unsqueeze(-1))
        with suppress(NumericalError):
            return factor(posterior).L
    raise NumericalError(f"the posterior covariance must be positive definite up to a jitter of {JITTERS[-1]:g} s2f")


def log_improvement(to: Improvement, x: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of noisy expected improvement at ``b x d`` points: ``... x b``; its gradient: ``... x b x d``."""
    value, gradient = _log_improvement(to, x.detach().numpy())
    return torch.from_numpy(value), torch.from_numpy(gradient)


def log_mixed_improvement(to: Improvement, log_w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the mean improvement over several models (``b``), and its gradient (``b x d``).

    Args:
        to: That over the `stacked` processes.
        log_w: Logarithms of their ``k`` probabilities.
        x: ``b x d`` new points.
    """
    if len(log_w) == 1:
        return log_improvement(to, x)
    values, gradients = _log_improvement(to, x.detach().numpy())
    values += log_w.numpy()[:, None]
    largest = values.max(0)
    parts = np.exp(values - largest)
    total = parts.sum(0)
    gradient = ((parts / total)[..., None] * gradients).sum(0)
    return torch.from_numpy(largest + np.log(total)), torch.from_numpy(gradient)


def _log_improvement(to: Improvement, x: Array) -> tuple[Array, Array]:
    """`log_improvement` of arrays."""
    k, slope, scale = _kernel(to.latent, x, to.Z.numpy())
    a, s2f, m = to.a.numpy(), to.latent.s2f.numpy()[..., None], to.latent.m.numpy()[..., None]
    W = k @ to.K_inverse.numpy()
    unclamped = s2f - np.vecdot(W, k)
    V = np.maximum(unclamped, JITTER * s2f)
    sd = np.sqrt(V)
    u = k @ a
    u -= (to.best.numpy() - m)[..., None, :]
    u /= sd[..., None]
    np.clip(u, -LIMIT, LIMIT, out=u)
    c = np.minimum(u.max(-1), 0.0)
    phi, Phi, h = scaled(u, c[..., None])
    total = h.sum(-1)
    value = np.log(total) + np.log(sd) - 0.5 * (c * c + LOG_2PI) - math.log(u.shape[-1])
    by_M = Phi / (total * sd)[..., None]
    by_V = phi.sum(-1) / (2 * total * V) * (unclamped == V)
    G = by_M @ np.swapaxes(a, -1, -2)
    G -= (2 * by_V)[..., None] * W
    G *= slope
    return value, scale * (G @ to.Z.numpy() - x * G.sum(-1, keepdims=True))


class _Kernel(NamedTuple):
    """Prior covariances of points with the baseline.

    Attributes:
        k: ``... x b x z`` values.
        slope: ``... x b x z`` derivatives with respect to the squared scaled distance, but for a factor.
        scale: ``... x 1 x d`` factors that also hold -2 / l^2, so that dk / dx_j is slope scale_j (Z_j - x_j).
    """

    k: Array
    slope: Array
    scale: Array


def _kernel(latent: Latent, x: Array, Z: Array) -> _Kernel:
    s2f, precision = latent.s2f.numpy()[..., None, None], 1 / np.square(latent.l.numpy())
    D = np.ascontiguousarray(x.T)[:, :, None] - np.ascontiguousarray(Z.T)[:, None, :]
    np.square(D, out=D)
    u2 = (precision @ D.reshape(len(D), -1)).reshape(*precision.shape[:-1], len(x), len(Z))
    correlation, slope = KERNELS[latent.kernel](u2, 0.0)
    return _Kernel(s2f * correlation, slope, SLOPES[latent.kernel] * s2f * precision[..., None, :])


def log_ei(u: Tensor) -> Tensor:
    """log(phi(u) + u Phi(u)), the logarithm of standard normal expected improvement, for any u."""
    return _LogEI.apply(u)


class _LogEI(torch.autograd.Function):
    """`log_ei` with its explicit gradient."""

    @staticmethod
    def forward(ctx: Any, u: Tensor) -> Tensor:
        flat = np.clip(u.detach().double().flatten().numpy(), -LIMIT, LIMIT)
        c = np.minimum(flat, 0.0)
        found = scaled(flat, c)
        value, slope = np.log(found.h) - 0.5 * (c * c + LOG_2PI), found.Phi / found.h
        ctx.save_for_backward(torch.from_numpy(slope).to(u).view(u.shape))
        return torch.from_numpy(value).to(u).view(u.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_value: Tensor) -> Tensor:
        (slope,) = ctx.saved_tensors
        return by_value * slope
