"""Probability that each observation is wrong, by Gibbs sampling over all sets of outliers.

An observation is right, and is the latent value with noise, or it is wrong, says nothing of the latent value, and has a
Cauchy density. Any set of at most half of them may be wrong, each with the same prior probability. Given the others,
whether one is wrong has closed-form odds: what the right ones predict for it against that density. A sweep draws each
in turn. What is averaged are its probabilities, not its draws (Rao and Blackwell's estimate).

The rate is not learned: gross values would raise it, and then pass a share of the suspicion on to the right ones.

Notation (no batch dimensions: a chain is one chain):
    Sg    n x n   covariance of the observations without added variances
    r     n       observations less the mean
    e, v          an observation less what the right ones (but itself) predict for it, and its variance (`chain`)
    q             probability that it is wrong, given the others

References:
    Verdinelli and Wasserman (1991), Bayesian analysis of outlier problems using the Gibbs sampler;
    Gelfand and Smith (1990), Sampling-based approaches to calculating marginal densities, section 2.4.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.linalg import lapack
from robustbo.numerics.pursuit.chain import Chain

SWEEPS, BURN_IN = 16, 2  # counted, and before them
SURE = 0.05  # of many observations, how probable it is at most that one is not what it is taken for


def log_cauchy(y: Tensor, scale: Tensor) -> Tensor:
    """Log density of wrong observations: as wide as the right ones, and with a tail for gross ones."""
    return -(math.pi * scale).log() - 2 * torch.hypot(torch.ones_like(y), y / scale).log()


class GibbsSample(NamedTuple):
    """``n`` probabilities that an observation is wrong, and those that are in the last set."""

    q: Tensor
    wrong: tuple[int, ...]


@lapack.quiet()  # the square of a gross error
def sample(
    Sg: Tensor,
    r: Tensor,
    log_wrong: Tensor,
    *,
    rate: float,
    begin: Collection[int] = (),
    cleared: Tensor | None = None,
    most: int | None = None,
    seed: int = 0,
) -> GibbsSample:
    """Sample sets of wrong observations at given hyperparameters; a pure function.

    Args:
        Sg: ``n x n`` covariance of the observations, noise included.
        r: ``n`` observations less the mean.
        log_wrong: ``n`` log densities of the observations, if they are wrong.
        rate: Prior probability of being wrong, in (0, 1).
        begin: Those that are wrong to begin with; the gross ones should be, since single moves leave them for their
            neighbours slowly.
        cleared: ``n`` booleans: those that cannot be wrong.
        most: How many may be wrong at once; half of them unless given.
        seed: Of the draws.

    Example:
        >>> y = torch.tensor([0.1, 0.0, 0.1, 5.0], dtype=torch.float64)
        >>> Sg = 1.0 + 0.01 * torch.eye(4, dtype=torch.float64)
        >>> sample(Sg, y, log_cauchy(y, torch.ones(4)), rate=0.1, begin=[3]).q.round(decimals=1).tolist()
        [0.0, 0.0, 0.0, 1.0]
    """
    n, rng = len(r), np.random.default_rng(seed)
    most = n // 2 if most is None else most
    chain = Chain(Sg.numpy(), r.numpy(), begin)
    free = np.arange(n) if cleared is None else np.flatnonzero(~cleared.numpy())
    total, log_wrongs = np.zeros(n), (log_wrong + math.log(rate / (1 - rate))).tolist()
    for sweep in range(BURN_IN + SWEEPS):
        for i, u in zip(rng.permutation(free).tolist(), rng.random(len(free)).tolist(), strict=True):
            e, v = chain.leave_one_out(i)
            log_right = -0.5 * (math.log(2 * math.pi * v) + e * e / v)
            q = _logistic(log_wrongs[i] - log_right) if chain.num_others_wrong(i) < most else 0.0
            if (u < q) != chain.is_wrong[i]:
                chain.move(i)
            if sweep >= BURN_IN:
                total[i] += q
    return GibbsSample(torch.from_numpy(total / SWEEPS), tuple(i for i, wrong in enumerate(chain.is_wrong) if wrong))


def conditional_probability_wrong(e: Tensor, v: Tensor, log_wrong: Tensor, rate: float) -> Tensor:
    """The probabilities that ``n`` values are wrong, each by its error and variance given others that are not asked."""
    log_right = -0.5 * ((2 * math.pi * v).log() + e.square() / v)
    return (log_wrong + math.log(rate / (1 - rate)) - log_right).sigmoid()


def sample_doubtful(
    cache: PredictionCache, rho: Tensor, log_wrong: Tensor, *, rate: float, cleared: Tensor | None = None, seed: int = 0
) -> Tensor:
    """The probabilities that ``n`` observations are wrong, where those that are as good as certain stay what they are.

    Of many observations few are doubtful: the chain is of these alone, given all others, at the hyperparameters and the
    support of a fit. O(n) and the cube of how many are doubtful.

    Args:
        cache: What is known given the data.
        rho: ``n`` added variances of it.
        log_wrong: As for `sample`, like the others.
        rate: Prior probability of being wrong.
        cleared: ``n`` booleans: those that cannot be wrong.
        seed: Of the draws.
    """
    q = conditional_probability_wrong(cache.e, cache.v, log_wrong, rate)
    q = q if cleared is None else q.masked_fill(cleared, 0.0)
    rows = ((q > SURE) & (q < 1 - SURE)).nonzero().flatten()
    if len(rows):
        C = torch.linalg.inv(cache.P[rows][:, rows])  # what the others leave of their covariance
        begin = (rho[rows] > 0).nonzero().flatten().tolist()
        certain = int((q >= 1 - SURE).sum())
        r, most = C @ cache.al[rows], max(0, len(q) // 2 - certain)
        C = C - torch.diag(rho[rows])
        draws = sample(0.5 * (C + C.mT), r, log_wrong[rows], rate=rate, begin=begin, most=most, seed=seed)
        q[rows] = draws.q
    return q


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))
