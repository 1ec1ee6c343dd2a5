"""Processes given data, and given latent values at a few points more: what they say of new points, and its slopes.

Tensors come in where processes are told; what is computed at every step of a maximization is arrays, as in
`gp.kernels_paired`.

Notation (shapes after a leading dimension, of the processes; X, Z and x have none):
    x, X, Z    b x d, n x d, z x d   new points, inputs of the data, baseline
    P, al, root        see `gp.posterior.LatentProcess`
    S          z x z   covariance of the latent values at Z given the data, with some jitter; R is its inverse
    U          z x r   k(Z, X) partner'
    k, kz      b x n, b x z   prior covariance of the new points with X and with Z
    u          b x r   k partner', and k P is u root
    c, C       b x z   covariance with Z given the data, kz - k root' U'; c R
    V          b       variance of a new point's value, given the data and the values at Z

References:
    docs/equations.md section 5.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.errors import NumericalError
from robustbo.numerics.gp.kernels import FORMS, SLOPES
from robustbo.numerics.gp.leave_one_out import factor
from robustbo.numerics.gp.posterior import AT_ONCE, LatentProcess
from robustbo.numerics.linalg.lapack import Array

JITTER = 1e-6  # of the signal variance: the baseline may hold the same point twice
JITTERS = (JITTER, 1e-5, 1e-4, 1e-3, 1e-2)


class Prior(NamedTuple):
    """Kernel, ``... x d`` values of 1 / l^2, and ``...`` signal variances."""

    kernel: str
    precision: Array
    s2f: Array


class ConditionedProcesses(NamedTuple):
    """Processes given data and values at the baseline: arrays, see the notation.

    Attributes:
        XZ: ``n + z x d`` points, those of X, then those of Z.
        latents: The processes given the data alone.
    """

    prior: Prior
    XZ: Array
    latents: Sequence[LatentProcess]
    al: Array
    U: Sequence[Array]
    R: Array


class CandidateSamples(NamedTuple):
    """Latent values of one process at ``m`` candidates, less its mean.

    Attributes:
        U: ``m x r``.
        mean: ``m`` posterior means.
        S: ``m x m`` posterior covariance, with its jitter.
        f: ``s x m`` samples.
    """

    U: Array
    mean: Array
    S: Array
    f: Array


class ConditionalMoments(NamedTuple):
    """Moments of processes at ``b`` points: see the notation.

    Attributes:
        is_free: Where the variance is not less than the least.
    """

    x: Array
    kernel: "CrossKernel"
    k: Array
    u: Sequence[Array]
    c: Array
    C: Array
    V: Array
    is_free: NDArray[np.bool_]


class CrossKernel(NamedTuple):
    """Prior covariances of points.

    Attributes:
        k: ``... x b x z`` values.
        slope: ``... x b x z`` derivatives with respect to the squared scaled distance, but for a factor.
        scale: ``... x 1 x d`` factors that also hold -2 / l^2, so that dk / dx_j is slope scale_j (Z_j - x_j).
    """

    k: Array
    slope: Array
    scale: Array


def means(latents: Sequence[LatentProcess], Z: Tensor) -> Tensor:
    """``p x m`` posterior means of latent values at ``m x d`` points, of ``p`` processes: in O(m n), in parts."""
    values = np.empty((len(latents), len(Z)))
    for row, latent in zip(values, latents, strict=True):
        prior, X, al = prior_of([latent]), latent.X.numpy(), latent.al.numpy()
        for start in range(0, len(Z), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            row[part] = latent.m.item() + cross_kernel(prior, Z[part].numpy(), X).k[0] @ al
    return torch.from_numpy(values)


def sample_candidates(latent: LatentProcess, Z: Array, normal: Array) -> CandidateSamples:
    """Samples at ``m x d`` candidates, from ``s x m`` standard normal numbers."""
    prior = prior_of([latent])
    k, among = (cross_kernel(prior, Z, x).k[0] for x in (latent.X.numpy(), Z))
    (U, right), mean = _projections(latent, k), k @ latent.al.numpy()
    S = torch.from_numpy(among - U @ right.T)
    root = _root(S, latent.s2f)
    return CandidateSamples(U, mean, S.numpy(), mean + normal @ root.numpy().T)


def _projections(latent: LatentProcess, k: Array) -> tuple[Array, Array]:
    """`LatentProcess.projections` of arrays."""
    right = k @ latent.root.numpy().T
    return right if latent.partner is None else k @ latent.partner.numpy().T, right


def condition_on_samples(
    latents: Sequence[LatentProcess], samples: Sequence[CandidateSamples], Z: Array, is_in: NDArray[np.bool_]
) -> ConditionedProcesses:
    """Processes with the same kernel and inputs, given the values at some of the ``m x d`` candidates."""
    R = np.stack([_inverse(sample.S[np.ix_(is_in, is_in)]) for sample in samples])
    al = np.stack([latent.al.numpy() for latent in latents])
    XZ, U = np.concatenate([latents[0].X.numpy(), Z[is_in]]), [sample.U[is_in] for sample in samples]
    return ConditionedProcesses(prior_of(latents), XZ, latents, al, U, R)


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


def conditional_moments(to: ConditionedProcesses, x: Array) -> ConditionalMoments:
    """Moments of the processes at ``b x d`` points that do not depend on the values at the baseline."""
    n, s2f = to.al.shape[-1], to.prior.s2f[:, None]
    both = cross_kernel(to.prior, x, to.XZ)
    k = both.k[..., :n]
    pairs = [_projections(latent, on) for latent, on in zip(to.latents, k, strict=True)]
    c = both.k[..., n:] - np.stack([right @ U.T for (_, right), U in zip(pairs, to.U, strict=True)])
    C = c @ to.R
    by_data = np.stack([np.vecdot(u, right) for u, right in pairs])
    unclamped = s2f - by_data - np.vecdot(C, c)  # eq. 5.13
    V = np.maximum(unclamped, JITTER * s2f)
    return ConditionalMoments(x, both, k, [u for u, _ in pairs], c, C, V, unclamped == V)


def gradient(to: ConditionedProcesses, moments: ConditionalMoments, by_mean: Array, by_c: Array, by_V: Array) -> Array:
    """``p x b x d`` derivatives of what depends on means and variances.

    Args:
        to: The processes.
        moments: What they say.
        by_mean: ``p x b x 1`` derivatives with respect to k al.
        by_c: ``p x b x z`` with respect to c, but for the variance.
        by_V: ``p x b x 1`` with respect to V, twice; where that is free.
    """
    by_c = by_c - by_V * moments.C
    parts = zip(to.latents, moments.u, to.U, by_V, by_c, strict=True)
    by_k = by_mean * to.al[:, None, :]
    by_k -= np.stack([(on_V * u + on_c @ U) @ latent.root.numpy() for latent, u, U, on_V, on_c in parts])
    G = np.concatenate([by_k, by_c], -1)
    G *= moments.kernel.slope
    return moments.kernel.scale * (G @ to.XZ - moments.x * G.sum(-1, keepdims=True))


def prior_of(latents: Sequence[LatentProcess]) -> Prior:
    """The kernel of processes that have the same, and its parameters."""
    l, s2f = (torch.stack([getattr(p, name) for p in latents]).numpy() for name in ("l", "s2f"))
    return Prior(latents[0].kernel, 1 / np.square(l), s2f)


def cross_kernel(prior: Prior, x: Array, Z: Array) -> CrossKernel:
    """Prior covariances of ``b x d`` points with ``z x d`` others."""
    precision, s2f = prior.precision, prior.s2f[..., None, None]
    D = np.ascontiguousarray(x.T)[:, :, None] - np.ascontiguousarray(Z.T)[:, None, :]
    np.square(D, out=D)
    u2 = (precision @ D.reshape(len(D), -1)).reshape(*precision.shape[:-1], len(x), len(Z))
    correlation, slope = FORMS[prior.kernel](u2, 0.0)
    return CrossKernel(s2f * correlation, slope, SLOPES[prior.kernel] * s2f * precision[..., None, :])
