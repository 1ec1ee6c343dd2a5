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
    Gaussian processes; docs/equations.md section 17.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from robustbo.lazy import cached_property
from robustbo.numerics.gp.parameters import Block, Exponential
from robustbo.numerics.linalg.lapack import Array

RATE = 1.0  # eq. 17.3: nats that a unit of t costs; a bend of 1 costs 0.7, of 3 costs 2.3
MOST_BENT = math.log1p(5.0**2)  # a fifth of a robust standard deviation from the center on, it is a logarithm
SMALL = 1e-3  # of x, below which secants are a series
LONGEST = 230.0  # of b w, beyond which values as they were are too large for their squares
SIDES = ("t_low", "t_high")
FREE = tuple(Block(name, (0.0, 1.5, 0.0), (0.0, MOST_BENT), Exponential(RATE)) for name in SIDES)


def fixed_warp(t: Iterable[float]) -> tuple[Block, ...]:
    """Blocks of a warp that a search does not change."""
    return tuple(free._replace(starts=(at,), bounds=(at, at)) for free, at in zip(FREE, t, strict=True))


class WarpedOutcomes:
    """Outcomes at some warp; what derivatives in the warp need is computed when it is asked for.

    Args:
        z: ``n`` outcomes; their squares must be finite.
        t: ``2`` coordinates, at least 0.

    Attributes:
        y: ``n`` warped outcomes.
        log_slope: ``n`` logarithms of the warp's derivative.
        log_secant: ``n`` logarithms of w / z.

    Example:
        >>> WarpedOutcomes(np.array([-3.0, 0.0, 2.0]), (0.0, math.log(2))).y.round(4).tolist()  # none, and asinh
        [-3.0, 0.0, 1.4436]
    """

    def __init__(self, z: Array, t: Sequence[float]) -> None:
        self._is_high, square = z > 0, z * z
        c = np.where(self._is_high, math.expm1(t[1]), math.expm1(t[0]))
        x = c * square
        self._x, self._S = x, _secant(x) if any(t) else np.ones_like(z)
        self._x_t = square + x  # the derivative of c in t is 1 + c
        self._flat = 1 + x
        self.y = z * self._S
        self.log_slope = -0.5 * np.log(self._flat)  # eq. 17.2
        self.log_secant = np.log(self._S)

    @cached_property
    def log_secant_t(self) -> Array:
        """``n`` derivatives of `log_secant`, each in the coordinate of its side."""
        return _secant_slope(self._x, self._S) / self._S * self._x_t

    @cached_property
    def log_slope_t(self) -> Array:
        """``n`` derivatives of `log_slope`, each in the coordinate of its side."""
        return -0.5 * self._x_t / self._flat

    @cached_property
    def y_t(self) -> Array:
        """``n`` derivatives of `y`, each in the coordinate of its side."""
        return self.y * self.log_secant_t

    def log_jacobian(self, members: NDArray[np.bool_]) -> float:
        """Log density of outcomes as they were over that of warped ones, some being members of a support."""
        return float(np.where(members, self.log_secant, self.log_slope).sum())  # eq. 17.4

    def by_side(self, per_observation: Array) -> Array:
        """``2`` sums, below zero and above."""
        high = float(per_observation @ self._is_high)
        return np.array([float(per_observation.sum()) - high, high])

    def log_jacobian_slopes(self, members: NDArray[np.bool_]) -> Array:
        """Derivatives of the log Jacobian in t, ``2``."""
        return self.by_side(np.where(members, self.log_secant_t, self.log_slope_t))

    def apart(self, per_observation: Array) -> Array:
        """``2 x n`` numbers: those of the values below zero, zero elsewhere, and those above."""
        high = per_observation * self._is_high
        return np.stack([per_observation - high, high])


def warp_by_each(z: Array, t: Array) -> tuple[Array, Array]:
    """``B x n`` outcomes at ``B x 2`` warps, and logarithms of the warps' derivatives: those of `WarpedOutcomes`.

    Args:
        z: ``n`` outcomes; their squares must be finite.
        t: ``B x 2`` coordinates, at least 0.
    """
    c = np.array([[math.expm1(low), math.expm1(high)] for low, high in t.tolist()])  # NumPy's rounds otherwise
    x = np.where(z > 0, c[:, 1:], c[:, :1]) * (z * z)
    return z * _secant(x), -0.5 * np.log(1 + x)  # eq. 17.2


def _secant(x: Array) -> Array:
    """The secant S."""
    root = np.sqrt(np.maximum(x, SMALL))
    S: Array = np.arcsinh(root) / root
    is_small = x < SMALL
    if is_small.any():
        near = np.minimum(x, SMALL)
        S = np.where(is_small, 1 + near * (-1 / 6 + near * (3 / 40 - near * (15 / 336 - near * (105 / 3456)))), S)
    return S  # eq. 17.1


def _secant_slope(x: Array, S: Array) -> Array:
    """The derivative of the secant in x."""
    safe = np.maximum(x, SMALL)
    S_x: Array = (1 / np.sqrt(1 + safe) - S) / (2 * safe)
    is_small = x < SMALL
    if is_small.any():
        near = np.minimum(x, SMALL)
        S_x = np.where(is_small, -1 / 6 + near * (3 / 20 - near * (45 / 336 - near * (420 / 3456))), S_x)
    return S_x
