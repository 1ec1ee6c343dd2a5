"""Standard normal expected improvement with what its logarithm and slope need, far into the tail.

All three parts are multiples of the density by numbers that neither vanish nor cancel. So it takes one Mills ratio an
element, and what all the densities have in common can be left out before they underflow.

Notation (elementwise):
    u          how much better the mean is than the best, in standard deviations; x = -u
    phi, Phi   density and distribution function
    h          phi + u Phi, the expected improvement: h' = Phi
    q          Phi / h, the slope of log h
    c          shift: not above 0, and not far from the u that matter

References:
    Ament et al. (2023), Unexpected improvements to expected improvement, for the logarithm; Abramowitz and Stegun
    26.2.14, phi / Phi = x + 1 / (x + 2 / (x + 3 / ...)) for the tail: what stands below the 1 is q, and so
    h = phi / (1 + x q).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import erfcx, log_ndtr
from torch import Tensor
from torch.autograd.function import once_differentiable

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg.lapack import Array

CAP = 9.0  # beyond which Phi is 1, and h is u, to rounding
FAR = -20.0  # where phi + u Phi has lost three digits
LIMIT = 1e150  # of u, either way: its square is a number
LEAST = 1e-300  # by which logarithms of probabilities differ
LEVELS = 8  # of the continued fraction, by which beyond that it has all digits


class Scaled(NamedTuple):
    """phi, Phi and h, times sqrt(2 pi) exp(c^2 / 2)."""

    phi: Array
    Phi: Array
    h: Array


def scaled_parts(u: Array, c: Array) -> Scaled:
    """phi, Phi and h, times sqrt(2 pi) exp(c^2 / 2).

    Args:
        u: ``...`` values, not beyond `LIMIT` either way.
        c: Shifts that broadcast with them. Of values far below its shift all may be 0; beside those at it, they are.
    """
    capped = np.minimum(u, CAP)
    phi = c - capped
    phi *= c + capped
    phi *= 0.5
    np.exp(phi, out=phi)
    capped *= -math.sqrt(0.5)
    Phi = erfcx(capped, out=capped)
    Phi *= math.sqrt(math.pi / 2)
    Phi *= phi
    h = u * Phi
    h += phi  # eq. 5.11
    is_far = u < FAR
    if is_far.any():
        x = -u[is_far]
        q = tail_slope(x)
        h[is_far] = phi[is_far] / (1 + x * q)
        Phi[is_far] = q * h[is_far]
    return Scaled(phi, Phi, h)


def tail_slope(x: Array) -> Array:
    """q at ``...`` values of x above -FAR."""
    q = x.copy()
    for level in range(LEVELS, 1, -1):
        np.divide(level, q, out=q)
        q += x
    return q


class IntervalProbability(NamedTuple):
    """The logarithm of the probability of an interval, and its derivatives by the mean and the standard deviation."""

    log_p: Array
    by_mean: Array
    by_sd: Array


def interval_probability(low: float, high: float, mean: Array, sd: Array) -> IntervalProbability:
    """Probability that a normal number lies between two bounds, of which one may be infinite; far out, too.

    Args:
        low: The lower one.
        high: The upper one, not below it.
        mean: ``...`` means.
        sd: ``...`` standard deviations.
    """
    a, b = (np.clip((bound - mean) / sd, -LIMIT, LIMIT) for bound in (low, high))
    is_above = a > -b  # the interval lies more above the mean than below: seen from the other side
    lo, hi = np.where(is_above, -b, a), np.where(is_above, -a, b)
    most = log_ndtr(hi)
    less = np.minimum(log_ndtr(lo) - most, -LEAST)
    log_p = most + np.log(-np.expm1(less))
    at_low, at_high = (np.exp(-0.5 * (z * z + LOG_2PI) - log_p) for z in (a, b))
    return IntervalProbability(log_p, (at_low - at_high) / sd, (a * at_low - b * at_high) / sd)


def log_ei(u: Tensor) -> Tensor:
    """log(phi(u) + u Phi(u)), the logarithm of standard normal expected improvement, for any u."""
    return _LogEI.apply(u)


class _LogEI(torch.autograd.Function):
    """`log_ei` with its explicit gradient."""

    @staticmethod
    def forward(ctx: Any, u: Tensor) -> Tensor:
        flat = np.clip(u.detach().double().flatten().numpy(), -LIMIT, LIMIT)
        c = np.minimum(flat, 0.0)
        parts = scaled_parts(flat, c)
        value, slope = np.log(parts.h) - 0.5 * (c * c + LOG_2PI), parts.Phi / parts.h
        ctx.save_for_backward(torch.from_numpy(slope).to(u).view(u.shape))
        return torch.from_numpy(value).to(u).view(u.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_value: Tensor) -> Tensor:
        (slope,) = ctx.saved_tensors
        return by_value * slope
