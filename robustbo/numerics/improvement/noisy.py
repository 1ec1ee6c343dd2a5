"""Noisy expected improvement: the logarithm, for one point at a time, with its gradient.

The best value so far is unknown where measurements are noisy or suspicious. So latent values are sampled at points
measured or asked; given the data and such a sample the improvement of a new point has a closed form, and the mean over
the samples is taken. Monte Carlo qLogNEI of one point is the same expectation with the new point sampled too.

Conditioned on are only the points that are the best in some sample (the baseline): given the data, the expectation is
the same whatever else one conditions on, and of hundreds of points all but a few dozen are the best in none. (With all
inputs in the baseline the data tell no more: their latent values say it all.)

Notation, beside that of `conditioned` (shapes after a leading dimension, of the processes):
    a          z x s   R (f - mean) of s samples f of the values at the baseline
    best       s       the largest value of each sample, less the process's mean
    M          b x s   mean of a new point's value, given the data and each sample
    u          b x s   (M - best) / sqrt(V)
    phi, Phi, h    density, distribution function and expected improvement at u, see `normal`: h' = Phi

References:
    docs/equations.md section 5; Letham, Karrer, Ottoni and Bakshy (2019), Constrained Bayesian optimization with noisy
    experiments, section 4.2; Ament et al. (2023), Unexpected improvements to expected improvement, for the logarithm.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.improvement.conditioned import (
    ConditionedProcesses,
    condition_on_samples,
    conditional_moments,
    gradient,
    means,
    sample_candidates,
)
from robustbo.numerics.improvement.normal import LIMIT, scaled_parts
from robustbo.numerics.linalg.lapack import Array

MOST = 256  # points whose values are sampled: of more, those with the best means


class Improvement(NamedTuple):
    """All that the improvement of a new point depends on: see the notation.

    Attributes:
        log_w: Logarithms of the processes' probabilities.
        processes: The processes.
    """

    log_w: Array
    processes: ConditionedProcesses
    a: Array
    best: Array


def contenders(latents: Sequence[LatentProcess], Z: Tensor) -> Tensor:
    """``m x d`` points that may well be the best, of more: all but where no process has one of its greatest means."""
    if len(Z) <= MOST:
        return Z
    greatest = means(latents, Z).amax(0)
    return Z[greatest.argsort(descending=True, stable=True)[:MOST].sort().values]


def over(
    latents: Sequence[LatentProcess],
    log_w: Tensor,
    Z: Tensor,
    normal: Tensor,
    counts: Tensor | None = None,
    required: Tensor | None = None,
) -> Improvement:
    """The improvement over the best of some candidates.

    Args:
        latents: ``p`` processes with the same kernel and inputs.
        log_w: ``p`` logarithms of their probabilities.
        Z: ``m x d`` candidates.
        normal: ``s x m`` standard normal numbers.
        counts: ``m`` booleans: of which the best is to be improved upon; of all by default.
        required: ``m`` booleans: which are conditioned on in any case, as nothing is known there; none by default.
    """
    samples = [sample_candidates(latent, Z.numpy(), normal.numpy()) for latent in latents]
    counting = np.arange(len(Z)) if counts is None else np.flatnonzero(counts.numpy())
    f = np.stack([sample.f[:, counting] for sample in samples])
    is_in = np.zeros(len(Z), dtype=bool) if required is None else required.numpy().copy()
    is_in[counting[f.argmax(-1)]] = True
    processes = condition_on_samples(latents, samples, Z.numpy(), is_in)
    a = processes.R @ np.stack([(sample.f - sample.mean)[:, is_in].T for sample in samples])
    return Improvement(log_w.numpy(), processes, a, f.max(-1))


def log_improvement(to: Improvement, x: Tensor, *, is_sloped: bool = True) -> tuple[Tensor, Tensor | None]:
    """The logarithm of noisy expected improvement at ``b x d`` points, ``b``; its gradient, ``b x d``, if wanted.

    Of several processes it is that of the mixture, the mean of their improvements.
    """
    values, gradients = _per_process(to, x.detach().numpy(), is_sloped)
    values += to.log_w[:, None]
    largest = values.max(0)
    parts = np.exp(values - largest)
    total = parts.sum(0)
    value = torch.from_numpy(largest + np.log(total))
    if gradients is None:
        return value, None
    return value, torch.from_numpy(((parts / total)[..., None] * gradients).sum(0))


def _per_process(to: Improvement, x: Array, is_sloped: bool) -> tuple[Array, Array | None]:
    """`log_improvement` of arrays, under each process."""
    moments = conditional_moments(to.processes, x)
    sd = np.sqrt(moments.V)
    u = moments.c @ to.a
    u += moments.k @ to.processes.al[..., None] - to.best[:, None, :]
    u /= sd[..., None]
    np.clip(u, -LIMIT, LIMIT, out=u)
    shift = np.minimum(u.max(-1), 0.0)
    phi, Phi, h = scaled_parts(u, shift[..., None])
    total = h.sum(-1)
    value = np.log(total) + np.log(sd) - 0.5 * (shift * shift + LOG_2PI) - math.log(u.shape[-1])  # eq. 5.14
    if not is_sloped:
        return value, None
    by_M = Phi / (total * sd)[..., None]
    by_V = (phi.sum(-1) / (total * moments.V) * moments.is_free)[..., None]
    by_c = by_M @ np.swapaxes(to.a, -1, -2)
    return value, gradient(to.processes, moments, by_M.sum(-1, keepdims=True), by_c, by_V)
