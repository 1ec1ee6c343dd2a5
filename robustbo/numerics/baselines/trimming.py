"""The trimmed marginal likelihood: which observations to leave out, so many of them, so that the rest is likeliest.

Notation (shapes after any leading batch dimensions):
    K     n x n  covariance of the latent values
    s2    n      noise variances
    r     n      observations, less the mean
    e, v  n      leave-one-out errors and variances
    b     n      how much of each observation is kept, in [0, 1]

References:
    Andrade and Takeda (2023), Robust Gaussian process regression with the trimmed marginal likelihood;
    docs/equations.md section 9.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI, evidence

STEPS = 200  # of a projected climb, at most
RISE = 1e-6  # relative rise at which it ends
HALVINGS = 30


def removal(e: Tensor, v: Tensor) -> Tensor:
    """Rise of the log likelihood by removal of each observation alone: that of the rest less that of all.

    It may be negative: a value that is likelier than one nat's worth of its spread adds to the likelihood.
    """
    return 0.5 * (e.square() / v + v.log() + LOG_2PI)  # eq. 9.5


class RelaxedLikelihood(NamedTuple):
    """The relaxed likelihood log N(b r; 0, D(b) K D(b) + D(s2)), and its gradient in b."""

    L: Tensor
    b: Tensor


def relax_likelihood(K: Tensor, s2: Tensor, r: Tensor, b: Tensor) -> RelaxedLikelihood:
    """Relax the trimmed likelihood: at b of zeros and ones it is that of those kept, but for constants. O(n^3)."""
    S = b.unsqueeze(-1) * K * b.unsqueeze(-2) + torch.diag_embed(s2.expand_as(b))
    marginal = evidence(S, b * r, torch.zeros_like(r[..., 0]))
    pull = (2 * marginal.G * K * b.unsqueeze(-2)).sum(-1)
    return RelaxedLikelihood(
        marginal.L if marginal.converged else torch.full_like(marginal.L, -torch.inf), pull - marginal.al * r
    )


def project_to_sum(b: Tensor, total: float) -> Tensor:
    """The nearest numbers in [0, 1] of a given sum.

    Args:
        b: ``n`` numbers.
        total: Their sum to be, in [0, n].
    """
    low, high = b.min() - 1, b.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (b - middle).clamp(0, 1).sum() > total else (low, middle)
    return (b - (low + high) / 2).clamp(0, 1)


def trim_by_projection(K: Tensor, s2: Tensor, r: Tensor, h: int) -> Tensor:
    """Trim ``h`` of ``n`` observations by a projected gradient climb of the relaxed likelihood: booleans of those kept.

    It begins where all are kept by the same share, and ends where the likelihood rises no more; the largest are kept.
    """
    n = len(r)
    b, size = r.new_full((n,), (n - h) / n), 1.0
    current = relax_likelihood(K, s2, r, b)
    for _ in range(STEPS):
        for _ in range(HALVINGS):
            b_trial = project_to_sum(b + size * current.b / current.b.abs().max().clamp_min(1e-300), n - h)
            trial = relax_likelihood(K, s2, r, b_trial)
            if trial.L > current.L:
                break
            size *= 0.5
        else:
            break
        gained, b, current, size = trial.L - current.L, b_trial, trial, min(2 * size, 1.0)
        if gained < RISE * max(1.0, abs(current.L.item())):
            break
    is_kept = torch.ones(n, dtype=torch.bool)
    is_kept[b.argsort(stable=True)[:h]] = False
    return is_kept
