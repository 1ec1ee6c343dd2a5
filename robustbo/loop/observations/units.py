"""Observations as a model sees them.

Values enter it turned so that larger is better, shifted by their median and divided by a power of two, which is exact
in effect: differences of 1e-12, or of 1e12, are no other problem than differences of 1.
"""

import math
import statistics
from collections.abc import Sequence

import torch
from torch import Tensor

from robustbo.loop.observations.table import Observations
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.space import Space
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

SPAN = 1000  # binary orders of magnitude that may lie between a typical and the largest distance
MIN_SD, MAX_SD = 1e-6, 1e6  # a noise below changes nothing, above it the value tells nothing


def typical_distance(values: Sequence[float]) -> float:
    """The median distance from the median, which the gross ones of less than half of the values do not move.

    Example:
        >>> typical_distance([1.0, 2.0, 3.0, 4.0, 900.0])
        1.0
    """
    center = statistics.median_low(values)
    return statistics.median_low([abs(v - center) for v in values])


def center_and_scale(values: tuple[float, ...]) -> tuple[float, float]:
    """The median, and a power of two (dividing by it loses nothing) near the median distance from it.

    Where the largest distance is more than 2^`SPAN` times that, the power is larger, so that none overflows.
    """
    center = statistics.median_low(values)
    halves = sorted(abs(v / 2 - center / 2) for v in values)  # of the distances, which might overflow themselves
    typical = next((half for half in halves[len(halves) // 2 :] if half > 0), 0.5)
    exponent = max(math.frexp(typical)[1], math.frexp(halves[-1])[1] - SPAN) + 1
    return center, math.ldexp(1.0, min(exponent, 1023))


def robust_center_and_scale(values: Sequence[float]) -> tuple[float, float]:
    """The median and the robust standard deviation, as `RobustStandardize` has them: whatever the units are."""
    center, scale = center_and_scale(tuple(values))
    transform = RobustStandardize(m=1)
    transform.learn(torch.tensor([[v / scale - center / scale] for v in values], dtype=torch.float64))
    return center + scale * transform.means.item(), scale * transform.stdvs.item()


def in_model_units(
    space: Space, sign: float, told: Observations, center: float, scale: float
) -> tuple[Tensor, Tensor, Tensor | None]:
    """``n x d`` inputs, ``n`` values, larger being better, and their noise where it is known.

    That is relative to the spread of the values, and kept where float64 can work with it.
    """
    X = encode(space, [list(row) for row in told.X])
    Y = torch.tensor([sign * (v / scale - center / scale) for v in told.values], dtype=torch.float64)
    if told.sds is None:
        return X, Y, None
    sds = torch.tensor(told.sds, dtype=torch.float64) / scale
    spread = robust_center_and_scale(told.values)[1] / scale  # whatever the units, unlike a power of two
    return X, Y, sds.clamp(MIN_SD * spread, MAX_SD * spread)
