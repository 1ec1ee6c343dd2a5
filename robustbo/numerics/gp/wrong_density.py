"""The density of wrong values, and the constants of the one account of a measurement that all beliefs follow from.

A value is right, and is predicted with heavy tails, or it is wrong, and says nothing of its point: its density lies
about the center of the outcomes, and is ten times as wide as they are. Up to ten of these widths it is a Cauchy
distribution's to a tenth or so; beyond, all orders of magnitude are nearly as probable, since an error may have any. Or
the objective is surprising at the point, a needle: so wide too, but for a tail that falls faster, since an absurd
magnitude is an error's.

References:
    docs/equations.md section 16.
"""

import math
from typing import TypeVar

import torch
from torch import Tensor

RATE = 0.1  # prior probability that a value is wrong, where the user has said nothing
DOF = 3.0  # of a right value: fitted hyperparameters are too sure; by log loss, as `WIDTH`, see docs/equations.md
WIDTH = 10.0  # of a wrong value's density, in robust standard deviations of the outcomes
NORMALIZER = 3.0379  # the integral of exp(-h) / (1 + h)^2, h = log sqrt(1 + u^2), over all u
NEEDLE = 0.02  # prior odds of values far out: that the objective is surprising there, to that one is wrong
FARTHEST = 300.0  # robust standard deviations of the outcomes beyond which needles are rarer
TINY, HUGE = 1e-300, 1e100  # bounds of a standard deviation and of how many of them a value is off

T = TypeVar("T", float, Tensor)


def log_wrong_density(error: T, scale: T) -> T:
    """Log density of a wrong value.

    Args:
        error: How far it is from the center of the outcomes; a number, or ``n``.
        scale: Robust standard deviation of the outcomes; likewise.
    """
    width = WIDTH * scale
    h = _log_distance(error, width)
    return -_log(NORMALIZER * width) - h - 2 * _log(1 + h)  # eq. 16.1


def log_needle_tail(error: T, scale: T) -> T:
    """Log density of the objective where it is surprising, less that of a wrong value; likewise."""
    return -2 * _log_distance(error, FARTHEST * scale)


def needle_probability(rate: float) -> float:
    """The prior probability that the objective is surprising at a point, given that of a wrong value."""
    return min(NEEDLE * rate / (1 - rate), 0.5)  # eq. 16.2


def deviations(error: float, sd: float) -> float:
    """Error in standard deviations, bounded so that its square is a number."""
    return min(abs(error) / max(sd, TINY), HUGE)


def _log(x: T) -> T:
    return x.log() if isinstance(x, Tensor) else math.log(x)


def _log_distance(error: T, scale: T) -> T:
    """Logarithm of sqrt(1 + (error / scale)^2)."""
    if isinstance(error, Tensor):
        return torch.hypot(torch.ones_like(error), error / scale).log()
    return math.log(math.hypot(1.0, deviations(error, scale)))
