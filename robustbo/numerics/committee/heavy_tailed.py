"""Experts with Student-t noise, by Laplace's approximation: one after the other, which is faster than all at once.

Experts of different sizes are padded: a row that is padding has no covariance with anything, and no likelihood.

Notation (``E`` experts of up to ``n`` observations), beside that of `student_t.laplace`:
    K     E x n x n   prior covariances of the latent values
    r     E x n       observations, less the mean
    mask  E x n       1 where there is an observation, 0 where there is padding

References:
    docs/equations.md sections 2 and 9.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.student_t import laplace
from robustbo.numerics.student_t.laplace import CLAMP, Noise
from robustbo.numerics.student_t.mode import Mode, cold_starts, find_mode


class Evidences(NamedTuple):
    """Approximate log marginal likelihoods and their gradients, curvatures below `CLAMP` replaced by it.

    Attributes:
        L: ``E`` values; -inf where there are none.
        K: ``E x n x n`` dL / dK, as in `laplace.Gradient`.
        log_s2: ``E`` values of dL / d log s2.
        log_nu: ``E`` values of dL / d log nu.
        m: ``E`` values of dL / dm.
        f: ``E x n`` modes, from which the next evaluation may begin.
    """

    L: Tensor
    K: Tensor
    log_s2: Tensor
    log_nu: Tensor
    m: Tensor
    f: Tensor


def evidences(K: Tensor, r: Tensor, noise: Noise, mask: Tensor, f: Tensor | None) -> Evidences:
    """Evidence and gradient of each expert, each mode's own dependence on the hyperparameters included.

    Args:
        K: ``E x n x n`` prior covariances.
        r: ``E x n`` observations less the mean.
        noise: The likelihood's parameters; the squared scale is one, or ``E x n``.
        mask: ``E x n``.
        f: ``E x n`` latent values less the mean, near the modes; from nothing by default.
    """
    L, by_s2, by_nu, by_m = r.new_zeros(4, len(r))
    totals = Evidences(L, torch.zeros_like(K), by_s2, by_nu, by_m, torch.zeros_like(r))
    for i, k in enumerate(mask.sum(-1).long().tolist()):
        expert = _expert(K, r, noise, i, k)
        mode = _mode(*expert, None if f is None else f[i, :k])
        at = laplace.approximate(
            expert[0], expert[1], r.new_zeros(()), expert[2], mode.a, is_clamped=True, at=mode.at, signed=mode.signed
        )
        by = laplace.gradient(at)
        totals.L[i], totals.log_s2[i], totals.log_nu[i], totals.m[i] = at.L, by.log_s2.sum(), by.log_nu, by.m.sum()
        totals.K[i, :k, :k], totals.f[i, :k] = by.K, at.f
    return totals


def weights(K: Tensor, r: Tensor, noise: Noise, mask: Tensor, f: Tensor | None) -> tuple[Tensor, Tensor]:
    """Weights for predictions: ``E x n`` values of K^-1 f, and ``E x n`` curvatures.

    The curvatures have their signs; where no strict maximum is found, they are clamped. Arguments as of `evidences`.
    """
    a, W = torch.zeros_like(r), torch.zeros_like(r)
    for i, k in enumerate(mask.sum(-1).long().tolist()):
        mode = _mode(*_expert(K, r, noise, i, k), None if f is None else f[i, :k])
        curvature = torch.from_numpy(mode.at.W)
        a[i, :k], W[i, :k] = mode.a, curvature if mode.signed.is_maximum else curvature.clamp_min(CLAMP)
    return a, W


def _expert(K: Tensor, r: Tensor, noise: Noise, i: int, k: int) -> tuple[Tensor, Tensor, Noise]:
    """Covariance, observations and noise of the i-th, of k observations."""
    return K[i, :k, :k].contiguous(), r[i, :k], Noise(noise.s2[i, :k] if noise.s2.dim() else noise.s2, noise.nu)


def _mode(K: Tensor, r: Tensor, noise: Noise, f: Tensor | None) -> Mode:
    """The mode near latent values; the highest that is found from nothing, where there is none."""
    if f is not None:
        mode = find_mode(K, r, noise, [f], em_steps=0)
        if mode.converged and mode.signed.is_maximum:
            return mode
    return find_mode(K, r, noise, cold_starts(K, r, noise))
