"""Densities of a value that is right, and of one that is not; in standardized outcomes.

A value is what its point's function value is, with noise: right. Or it says nothing of it: wrong, or its point is a
*needle*, where the objective itself is not what its neighbours tell. One value cannot tell the latter two apart.

- Noise has the tails of a Student-t distribution, as a mixture of normal distributions with one, three and nine times
  the standard deviation. Their shares are those of its variances (inverse gamma) nearest to these; the degrees of
  freedom are unknown. A value whose noise is the widest of these says so little of its point that it counts as wrong.
- A wrong value and a needle have the wide densities of `gp.wrong_density`.

References:
    Box and Tiao (1968), A Bayesian approach to some outlier problems; Lange, Little and Taylor (1989), Robust
    statistical modeling using the t distribution, for the mixture; docs/equations.md section 19.
"""

import math

import numpy as np
import torch
from scipy.special import gammaincc
from torch import Tensor

from robustbo.numerics.gp.wrong_density import NEEDLE, RATE, log_needle_tail, log_wrong_density
from robustbo.numerics.linalg.lapack import Array

MULTIPLES = np.array([1.0, 9.0, 81.0])  # of the noise variance
NUM_RIGHT = 2  # of these, that the noise of a right value has; one with the widest says too little
DOFS = (2.0, 3.0, 4.0, 6.0, 10.0, 20.0, math.inf)  # equally probable to begin with
WITHIN, FARTHEST_WARPED = 0.9, 100.0  # a share of outcomes, and how many times as far off as these a right one may be
LEAST = 1e-300  # a share that is as good as none


def log_shares(dof: float) -> Array:
    """Logarithms of the shares that the noise variances of `MULTIPLES` have, for Student-t noise.

    Example:
        >>> np.exp(log_shares(4.0)).round(3).tolist(), np.exp(log_shares(math.inf)).round(3).tolist()
        ([0.856, 0.142, 0.003], [1.0, 0.0, 0.0])
    """
    if math.isinf(dof):
        return np.log(np.maximum([1.0, 0.0, 0.0], LEAST))
    between = np.sqrt(MULTIPLES[1:] * MULTIPLES[:-1])
    below = np.array([0.0, *gammaincc(dof / 2, dof / 2 / between), 1.0])  # eq. 19.1
    return np.log(np.maximum(np.diff(below), LEAST))


LOG_SHARES = np.stack([log_shares(dof) for dof in DOFS])


def silent_share(rate: float) -> float:
    """The share of values with the widest noise that counts as wrong, at a prior rate of wrong values.

    Where the user says that hardly any value is wrong, they are noisy.
    """
    return min(1.0, rate / RATE)


def log_odd(y: Tensor, scale: Tensor, distance: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Log densities of values that say nothing of what the others predict; the shares of the wrong among these.

    Args:
        y: ``n`` values less the outcomes' center.
        scale: ``n`` standard deviations of these.
        distance: ``n`` values as they are, where gross ones are compressed in y.

    Example:
        >>> y = torch.tensor([5.0, 1e6], dtype=torch.float64)
        >>> log_odd(y, torch.ones_like(y))[1].round(decimals=3).tolist()  # one value may be a needle
        [0.98, 1.0]
    """
    wrong, distance = log_wrong_density(y, scale), y if distance is None else distance
    log_density = torch.logaddexp(wrong, math.log(NEEDLE) + wrong + log_needle_tail(distance, scale))  # eq. 19.2
    return log_density, (wrong - log_density).exp()


def log_beyond_warp(distance: Tensor, among: Tensor) -> Tensor:
    """Log factor of the odds that values are not right, if they lie far beyond those that a warp was learned from.

    Args:
        distance: ``n`` standardized values less the outcomes' center, as they are.
        among: ``m`` that the warp was learned from, likewise.

    Example:
        >>> among = torch.linspace(-2, 2, 21, dtype=torch.float64)
        >>> log_beyond_warp(torch.tensor([2.0, 5000.0], dtype=torch.float64), among).round(decimals=2).tolist()
        [0.0, 6.65]
    """
    widest = FARTHEST_WARPED * among.abs().quantile(WITHIN).clamp_min(1.0)  # of standardized outcomes
    return 2 * torch.hypot(torch.ones_like(distance), distance / widest).log()  # eq. 19.14


def log_right(e: Tensor, v: Tensor, s2: Tensor, log_share: Array) -> Tensor:
    """Log densities of right values with each noise, ``n x 3``; those of right values are their logsumexp.

    Args:
        e: ``n`` errors of what the others predict.
        v: ``n`` variances of these predictions, without noise.
        s2: ``n`` noise variances.
        log_share: ``3`` logarithms of the shares.
    """
    variances = v.unsqueeze(-1) + s2.unsqueeze(-1) * torch.from_numpy(MULTIPLES)
    normal = -0.5 * ((2 * math.pi * variances).log() + e.square().unsqueeze(-1) / variances)
    return normal + torch.from_numpy(log_share)  # eq. 19.3
