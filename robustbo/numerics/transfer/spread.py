"""Spread of the values of a source: in the units of which, and whether in those of the target.

Notation (no batch dimensions):
    y  n  values

References:
    docs/equations.md section 22.
"""

import math

from scipy.special import ndtri
from torch import Tensor

OUTSIDE = 0.1  # share of the values that may lie anywhere
QUARTILES = 1.349  # interquartile range of a normal distribution, in standard deviations


def inner_spread(y: Tensor) -> float:
    """The standard deviation of a normal distribution by the interquartile range; 0 of fewer than two values."""
    if len(y) < 2:
        return 0.0
    low, high = y.quantile(y.new_tensor([0.25, 0.75])).tolist()
    return (high - low) / QUARTILES


def robust_spread(y: Tensor) -> float:
    """The standard deviation of a normal distribution by nine tenths of the values, or by the middle half if larger.

    Of a search that has converged most values are alike, so that the middle half alone says how alike these are.
    """
    n, outside = len(y), math.ceil(OUTSIDE * len(y))
    if n < 2:
        return 0.0
    within = n - outside
    ordered = y.sort().values
    width = (ordered[within - 1 :] - ordered[: outside + 1]).min().item()
    nine_tenths = width / (2 * ndtri(0.5 + within / (2 * n)))  # eq. 22.19
    return max(inner_spread(y), float(nine_tenths))
