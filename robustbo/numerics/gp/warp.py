"""A monotone warp of outcomes that is learned with the hyperparameters: straight at the centre, a logarithm in a tail.

On either side of zero w(z) = asinh(b z) / b with a bend b of that side's own; b = 0 is no warp. The coordinate of a
search is t = log(1 + b^2) >= 0, in which the slope at no warp is not zero. Its prior is exponential: none unless the
data insist.

An observation that has a variance of its own says nothing of the warp: its density is that of an error in outcomes as
they were, and the factor between these and warped ones is the secant w(z) / z.

Notation (no batch dimensions: a search is one search):
    z     n  outcomes, robustly standardized
    t     2  log(1 + b^2) of the values below zero, and above
    x     n  b^2 z^2
    w     n  warped outcomes
    S     n  asinh(sqrt x) / sqrt x, the secant w / z

References:
    Snelson, Rasmussen and Ghahramani (2003), Warped Gaussian processes; Rios and Tobar (2019), Compositionally-warped
    Gaussian processes; docs/equations.md section 16.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from robustbo.numerics.gp.parameters import Block, Exponential
from robustbo.numerics.linalg.lapack import Array

RATE = 3.0  # nats that a unit of t costs: a bend of 1 costs 2.1, of 3 costs 6.9
MOST_BENT = math.log1p(100.0**2)
SMALL = 1e-3  # of x, below which secants are a series
LONGEST = 230.0  # of b w, beyond which values as they were are too large for their squares
SIDES = ("t_low", "t_high")
FREE = tuple(Block(name, (0.0, 1.5, 0.0), (0.0, MOST_BENT), Exponential(RATE)) for name in SIDES)


def held(t: Iterable[float]) -> tuple[Block, ...]:
    """The blocks of a warp that stays what it is."""
    return tuple(free._replace(starts=(at,), bounds=(at, at)) for free, at in zip(FREE, t, strict=True))


class Warped(NamedTuple):
    """Outcomes as a search sees them at some warp, and what its derivatives need.

    Attributes:
        y: ``n`` warped outcomes.
        y_t: ``n`` derivatives in the coordinate of its side.
        log_slope: ``n`` logarithms of the warp's derivative.
        log_slope_t: ``n`` derivatives of that.
        log_secant: ``n`` logarithms of w / z.
        log_secant_t: ``n`` derivatives of that.
        is_high: ``n`` booleans, whether the coordinate is that of the values above zero.
    """

    y: Array
    y_t: Array
    log_slope: Array
    log_slope_t: Array
    log_secant: Array
    log_secant_t: Array
    is_high: Array

    def log_jacobian(self, members: Array) -> float:
        """Log density of outcomes as they were over that of warped ones, some being members of a support."""
        return float(np.where(members, self.log_secant, self.log_slope).sum())  # eq. 16.4

    def by_side(self, per_observation: Array) -> Array:
        """``2`` sums, below zero and above."""
        high = float(per_observation @ self.is_high)
        return np.array([float(per_observation.sum()) - high, high])

    def log_jacobian_slopes(self, members: Array) -> Array:
        """Its ``2`` derivatives in t."""
        return self.by_side(np.where(members, self.log_secant_t, self.log_slope_t))

    @property
    def tangents(self) -> Array:
        """``2 x n`` derivatives of the warped outcomes."""
        return np.stack([self.y_t * ~self.is_high, self.y_t * self.is_high])


def warped(z: Array, t: Array) -> Warped:
    """Outcomes warped.

    Args:
        z: ``n`` outcomes; their squares must be finite.
        t: ``2`` coordinates, at least 0.

    Example:
        >>> warped(np.array([-3.0, 0.0, 2.0]), np.array([0.0, np.log(2.0)])).y.round(4).tolist()  # none, and asinh
        [-3.0, 0.0, 1.4436]
    """
    is_high = z > 0
    c = np.expm1(np.where(is_high, t[1], t[0]))
    x = c * z * z
    S, S_x = _secant(x)
    c_t, flat = 1 + c, 1 + x  # of t, of x
    x_t = c_t * z * z
    return Warped(
        z * S,
        z * S_x * x_t,
        -0.5 * np.log1p(x),  # eq. 16.2
        -0.5 * x_t / flat,
        np.log(S),
        S_x / S * x_t,
        is_high,
    )


def unwarped(w: Array, t: Array) -> Array:
    """The way back."""
    b = np.sqrt(np.expm1(np.where(w > 0, t[1], t[0])))
    far = np.minimum(b * np.abs(w), LONGEST)
    return np.where(b > 0, w * _hyperbolic(far), w)


def _hyperbolic(a: Array) -> Array:
    """sinh(a) / a."""
    return np.where(a > 0, np.sinh(a) / np.where(a > 0, a, 1.0), 1.0)


def _secant(x: Array) -> tuple[Array, Array]:
    """S and its derivative in x."""
    safe = np.maximum(x, SMALL)
    root = np.sqrt(safe)
    S = np.arcsinh(root) / root
    S_x = (1 / np.sqrt(1 + safe) - S) / (2 * safe)
    small = 1 + x * (-1 / 6 + x * (3 / 40 - x * (15 / 336 - x * (105 / 3456))))
    small_x = -1 / 6 + x * (3 / 20 - x * (45 / 336 - x * (420 / 3456)))
    is_small = x < SMALL
    return np.where(is_small, small, S), np.where(is_small, small_x, S_x)  # eq. 16.1
