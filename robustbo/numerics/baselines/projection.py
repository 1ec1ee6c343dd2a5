"""Projection statistics: how far out each point lies, in the direction in which it lies farthest.

Notation:
    X   n x d  inputs
    P   n      projection statistics
    w   n      weights, in (0, 1]

References:
    Mili, Cheniae, Vichare and Rousseeuw (1996), Robust state estimation based on projection statistics.
    Algikar and Mili (2023), Robust Gaussian process regression with Huber likelihood, whose code has the same numbers.
"""

import math

import torch
from scipy.special import chdtri
from torch import Tensor

NORMAL = 1.4826  # standard deviations a median absolute deviation, of a normal sample
SMALL_SAMPLE = 15.0  # their correction of that for n values is 1 + 15 / n
BEYOND = 0.025  # the share of normal points that weigh less than one
NOTHING = 1e-12  # of the largest: a length, or a spread, that is rounding


def projection_statistics(X: Tensor) -> Tensor:
    """The largest distance of each point from the median, in robust standard deviations, over n directions.

    The directions are those from the coordinatewise median to each point. One in which half of the points or more lie
    together has no spread to measure by, and is left out.

    Args:
        X: ``n x d`` inputs.
    """
    U = X - _median(X.mT).unsqueeze(0)
    length = U.norm(dim=-1)
    is_away = length > NOTHING * length.max()
    if not is_away.any():
        return torch.zeros_like(length)
    e = (U[is_away] / length[is_away].unsqueeze(-1)) @ X.mT  # a direction a row
    e = (e - _median(e).unsqueeze(-1)).abs()
    spread = NORMAL * (1 + SMALL_SAMPLE / len(X)) * _median(e)
    is_spread = spread > NOTHING * e.amax(-1)
    if not is_spread.any():
        return torch.zeros_like(length)
    return (e[is_spread] / spread[is_spread].unsqueeze(-1)).amax(0)


def weights(X: Tensor) -> Tensor:
    """min(1, c / P^2) of each point, where c is the 97.5 % quantile of chi^2 with d + 1 degrees of freedom.

    d + 1, as the source counts its column of ones.

    Args:
        X: ``n x d`` inputs.
    """
    c = float(chdtri(X.shape[-1] + 1, BEYOND))
    return (math.sqrt(c) / projection_statistics(X)).square().clamp_max(1.0)


def _median(values: Tensor) -> Tensor:
    """Median of each row; of an even number the mean of the middle two, as elsewhere than in torch."""
    return values.quantile(0.5, dim=-1)
