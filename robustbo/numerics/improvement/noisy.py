"""Noisy expected improvement: the logarithm, for one point at a time, with its gradient.

The best value so far is unknown where measurements are noisy or suspicious. So latent values are sampled at points
measured or asked; given the data and such a sample the improvement of a new point has a closed form, and the mean over
the samples is taken. Monte Carlo qLogNEI of one point is the same expectation with the new point sampled too.

Conditioned on are only the points that are the best in some sample (the baseline): given the data, the expectation is
the same whatever else one conditions on, and of hundreds of points all but a few dozen are the best in none. (With all
inputs in the baseline the data tell no more: their latent values say it all.)

Tensors come in and go out; what is computed at every step of a maximization is arrays, as in `gp.kernels_paired`.

Notation (shapes after a leading dimension, of the processes; X, Z and x have none):
    x, X, Z    b x d, n x d, z x d   new points, inputs of the data, baseline
    P, al              see `gp.posterior.Latent`
    S          z x z   covariance of the latent values at Z given the data, with some jitter; R is its inverse
    B          n x z   P k(X, Z)
    a          z x s   R (f - mean) of s samples f of these values
    best       s       the largest value of each sample, less the process's mean
    k, kz      b x n, b x z   prior covariance of the new points with X and with Z
    W          b x n   k P
    c, C       b x z   covariance with Z given the data, kz - k B; c R
    M, V       b x s, b   mean and variance of a new point's value, given the data and each sample
    u          b x s   (M - best) / sqrt(V)
    phi, Phi, h    density, distribution function and expected improvement at u, see `normal`: h' = Phi

References:
    docs/equations.md section 5; Letham, Karrer, Ottoni and Bakshy (2019), Constrained Bayesian optimization with noisy
    experiments, section 4.2; Ament et al. (2023), Unexpected improvements to expected improvement, for the logarithm.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.errors import NumericalError
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.kernels_paired import KERNELS, SLOPES
from robustbo.numerics.gp.leave_one_out import factor
from robustbo.numerics.gp.posterior import AT_ONCE, Latent
from robustbo.numerics.improvement.normal import LIMIT, scaled
from robustbo.numerics.linalg.lapack import Array

MOST = 256  # points whose values are sampled: of more, those with the best means
JITTER = 1e-6  # of the signal variance: the baseline may hold the same point twice
JITTERS = (JITTER, 1e-5, 1e-4, 1e-3, 1e-2)


class Prior(NamedTuple):
    """Kernel, ``... x d`` values of 1 / l^2, and ``...`` signal variances."""

    kernel: str
    precision: Array
    s2f: Array


class Improvement(NamedTuple):
    """All that the improvement of a new point depends on: arrays, see the notation; P are those of each process.

    Attributes:
        log_w: Logarithms of the processes' probabilities.
        XZ: ``n + z x d`` points, those of X, then those of Z.
    """

    log_w: Array
    prior: Prior
    XZ: Array
    P: Sequence[Array]
    al: Array
    B: Array
    R: Array
    a: Array
    best: Array


def means(latents: Sequence[Latent], Z: Tensor) -> Tensor:
    """``p x m`` posterior means of latent values at ``m x d`` points, of ``p`` processes: in O(m n), in parts."""
    found = np.empty((len(latents), len(Z)))
    for row, latent in zip(found, latents, strict=True):
        prior, X, al = _prior([latent]), latent.X.numpy(), latent.al.numpy()
        for start in range(0, len(Z), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            row[part] = latent.m.item() + _kernel(prior, Z[part].numpy(), X).k[0] @ al
    return torch.from_numpy(found)


def contenders(latents: Sequence[Latent], Z: Tensor) -> Tensor:
    """``m x d`` points that may well be the best, of more: all but where no process has one of its greatest means."""
    if len(Z) <= MOST:
        return Z
    greatest = means(latents, Z).amax(0)
    return Z[greatest.argsort(descending=True, stable=True)[:MOST].sort().values]


def over(
    latents: Sequence[Latent],
    log_w: Tensor,
    Z: Tensor,
    normal: Tensor,
    counts: Tensor | None = None,
    kept: Tensor | None = None,
) -> Improvement:
    """The improvement over the best of some candidates.

    Args:
        latents: ``p`` processes with the same kernel and inputs.
        log_w: ``p`` logarithms of their probabilities.
        Z: ``m x d`` candidates.
        normal: ``s x m`` standard normal numbers.
        counts: ``m`` booleans: of which the best is to be improved upon; of all unless given.
        kept: ``m`` booleans: which are conditioned on in any case, as nothing is known there; none unless given.
    """
    drawn = [_drawn(latent, Z.numpy(), normal.numpy()) for latent in latents]
    counting = np.arange(len(Z)) if counts is None else np.flatnonzero(counts.numpy())
    f = np.stack([each.f[:, counting] for each in drawn])
    is_in = np.zeros(len(Z), dtype=bool) if kept is None else kept.numpy().copy()
    is_in[counting[f.argmax(-1)]] = True
    R = np.stack([_inverse(each.S[np.ix_(is_in, is_in)]) for each in drawn])
    a = R @ np.stack([(each.f - each.mean)[:, is_in].T for each in drawn])
    B, al = np.stack([each.W[is_in].T for each in drawn]), np.stack([latent.al.numpy() for latent in latents])
    XZ, P = np.concatenate([latents[0].X.numpy(), Z.numpy()[is_in]]), [latent.P.numpy() for latent in latents]
    return Improvement(log_w.numpy(), _prior(latents), XZ, P, al, B, R, a, f.max(-1))


class _Drawn(NamedTuple):
    """Latent values of one process at ``m`` candidates, less its mean.

    Attributes:
        W: ``m x n`` products of their prior covariances with P.
        mean: ``m`` posterior means.
        S: ``m x m`` posterior covariance, with its jitter.
        f: ``s x m`` samples.
    """

    W: Array
    mean: Array
    S: Array
    f: Array


def _drawn(latent: Latent, Z: Array, normal: Array) -> _Drawn:
    prior = _prior([latent])
    k, among = (_kernel(prior, Z, x).k[0] for x in (latent.X.numpy(), Z))
    W, mean = k @ latent.P.numpy(), k @ latent.al.numpy()
    S = torch.from_numpy(among - W @ k.T)
    root = _root(S, latent.s2f)
    return _Drawn(W, mean, S.numpy(), mean + normal @ root.numpy().T)


def _root(posterior: Tensor, s2f: Tensor) -> Tensor:
    """A factor of a posterior covariance, whose rounding errors may exceed it where noise is as good as none.

    The covariance gets the jitter that it takes.
    """
    for jitter, before in zip(JITTERS, (0.0, *JITTERS), strict=False):
        posterior.diagonal(dim1=-2, dim2=-1).add_((jitter - before) * s2f.unsqueeze(-1))
        with suppress(NumericalError):
            return factor(posterior).L
    raise NumericalError(f"the posterior covariance must be positive definite up to a jitter of {JITTERS[-1]:g} s2f")


def _inverse(S: Array) -> Array:
    return torch.cholesky_inverse(factor(torch.from_numpy(S)).L).numpy()


def log_improvement(to: Improvement, x: Tensor, *, is_sloped: bool = True) -> tuple[Tensor, Tensor | None]:
    """The logarithm of noisy expected improvement at ``b x d`` points, ``b``; its gradient, ``b x d``, if wanted.

    Of several processes it is that of the mixture, the mean of their improvements.
    """
    values, gradients = _of_each(to, x.detach().numpy(), is_sloped)
    values += to.log_w[:, None]
    largest = values.max(0)
    parts = np.exp(values - largest)
    total = parts.sum(0)
    value = torch.from_numpy(largest + np.log(total))
    if gradients is None:
        return value, None
    return value, torch.from_numpy(((parts / total)[..., None] * gradients).sum(0))


def _of_each(to: Improvement, x: Array, is_sloped: bool) -> tuple[Array, Array | None]:
    """`log_improvement` of arrays, under each process."""
    n, s2f = to.al.shape[-1], to.prior.s2f[:, None]
    both = _kernel(to.prior, x, to.XZ)
    k = both.k[..., :n]
    W = np.stack([on @ P for on, P in zip(k, to.P, strict=True)])
    c = both.k[..., n:] - k @ to.B
    C = c @ to.R
    unclamped = s2f - np.vecdot(W, k) - np.vecdot(C, c)  # eq. 5.13
    V = np.maximum(unclamped, JITTER * s2f)
    sd = np.sqrt(V)
    u = c @ to.a
    u += k @ to.al[..., None] - to.best[:, None, :]
    u /= sd[..., None]
    np.clip(u, -LIMIT, LIMIT, out=u)
    shift = np.minimum(u.max(-1), 0.0)
    phi, Phi, h = scaled(u, shift[..., None])
    total = h.sum(-1)
    value = np.log(total) + np.log(sd) - 0.5 * (shift * shift + LOG_2PI) - math.log(u.shape[-1])  # eq. 5.14
    if not is_sloped:
        return value, None
    by_M = Phi / (total * sd)[..., None]
    by_V = (phi.sum(-1) / (total * V) * (unclamped == V))[..., None]
    by_c = by_M @ np.swapaxes(to.a, -1, -2) - by_V * C
    by_k = by_M.sum(-1, keepdims=True) * to.al[:, None, :] - by_V * W - by_c @ np.swapaxes(to.B, -1, -2)
    G = np.concatenate([by_k, by_c], -1)
    G *= both.slope
    return value, both.scale * (G @ to.XZ - x * G.sum(-1, keepdims=True))


class _Kernel(NamedTuple):
    """Prior covariances of points.

    Attributes:
        k: ``... x b x z`` values.
        slope: ``... x b x z`` derivatives with respect to the squared scaled distance, but for a factor.
        scale: ``... x 1 x d`` factors that also hold -2 / l^2, so that dk / dx_j is slope scale_j (Z_j - x_j).
    """

    k: Array
    slope: Array
    scale: Array


def _prior(latents: Sequence[Latent]) -> Prior:
    l, s2f = (torch.stack([getattr(p, name) for p in latents]).numpy() for name in ("l", "s2f"))
    return Prior(latents[0].kernel, 1 / np.square(l), s2f)


def _kernel(prior: Prior, x: Array, Z: Array) -> _Kernel:
    precision, s2f = prior.precision, prior.s2f[..., None, None]
    D = np.ascontiguousarray(x.T)[:, :, None] - np.ascontiguousarray(Z.T)[:, None, :]
    np.square(D, out=D)
    u2 = (precision @ D.reshape(len(D), -1)).reshape(*precision.shape[:-1], len(x), len(Z))
    correlation, slope = KERNELS[prior.kernel](u2, 0.0)
    return _Kernel(s2f * correlation, slope, SLOPES[prior.kernel] * s2f * precision[..., None, :])
