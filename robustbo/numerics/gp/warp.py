"""A monotone warp of outcomes that is learned with the hyperparameters: straight at its origin, a logarithm in a tail.

On either side of an origin o, w(z) = k asinh(b (z - o)) / b with a bend b of that side's own, but for a constant; b = 0
is no warp. k makes its slope 1 at the center, z = 0, so that noise there is what it was. The coordinate of a search is
t = log(1 + b^2) >= 0, in which the slope at no warp is not zero. Its prior is exponential: none unless the data insist.
With an origin at the end of skewed outcomes the warp is a logarithm of nearly all of them.

An observation that has a variance of its own says nothing of the warp: its density is that of an error in outcomes as
they were, and the factor between these and warped ones is the secant w(z) / z.

Notation (no batch dimensions: a search is one search):
    z     n  outcomes, robustly standardized
    t     3  log(1 + b^2) of the values below the origin, and above; the origin o
    u     n  z - o
    x     n  b^2 u^2
    w     n  warped outcomes
    S     n  asinh(sqrt x) / sqrt x
    k        sqrt(1 + x) at z = 0

References:
    Snelson, Rasmussen and Ghahramani (2003), Warped Gaussian processes; Rios and Tobar (2019), Compositionally-warped
    Gaussian processes; docs/equations.md section 17.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from robustbo.lazy import cached_property
from robustbo.numerics.gp.parameters import Block, Exponential, Normal
from robustbo.numerics.linalg.lapack import Array

RATE = 1.0  # eq. 17.3: nats that a unit of t costs; a bend of 1 costs 0.7, of 3 costs 2.3
MOST_BENT = math.log1p(5.0**2)  # a fifth of a robust standard deviation from the origin on, it is a logarithm
FARTHEST = 3.0  # robust standard deviations from the center to the origin
SMALL = 1e-3  # of x, below which S is a series
CENTRAL = 1e-5  # robust standard deviations from the center within which a secant is the slope there
LONGEST = 230.0  # of b w, beyond which values as they were are too large for their squares
FREE = (
    *(Block(name, (0.0, 1.5, 0.0), (0.0, MOST_BENT), Exponential(RATE)) for name in ("t_low", "t_high")),
    Block("origin", (0.0,), (-FARTHEST, FARTHEST), Normal(0.0, 1.0)),
)
NONE = (0.0, 0.0, 0.0)  # the coordinates of no warp


def fixed_warp(t: Iterable[float]) -> tuple[Block, ...]:
    """Blocks of a warp that a search does not change."""
    return tuple(free._replace(starts=(at,), bounds=(at, at)) for free, at in zip(FREE, t, strict=True))


class WarpedOutcomes:
    """Outcomes at some warp; what derivatives in the warp need is computed when it is asked for.

    Args:
        z: ``n`` outcomes; their squares must be finite.
        t: ``3`` coordinates: two bends, at least 0, and the origin.

    Attributes:
        y: ``n`` warped outcomes.
        log_slope: ``n`` logarithms of the warp's derivative.
        log_secant: ``n`` logarithms of w / z; 0, as at the center, where z is next to nothing.

    Example:
        >>> WarpedOutcomes(np.array([-3.0, 0.0, 2.0]), (0.0, math.log(2), 0.0)).y.round(4).tolist()  # none, and asinh
        [-3.0, 0.0, 1.4436]
    """

    def __init__(self, z: Array, t: Sequence[float]) -> None:
        (low, high, origin), (c_low, c_high) = t, np.expm1(t[:2])
        u = np.append(z, 0.0) - origin  # the last is the center
        self._is_high = u > 0
        self._u, self._c = u, np.where(self._is_high, c_high, c_low)
        self._x = self._c * u * u
        self._flat, self._is_straight = 1 + self._x, low == high == 0
        self._S = np.ones_like(u) if self._is_straight else _secant(self._x)
        self._k = math.sqrt(self._flat[-1])
        self._bent = u * self._S
        self.y = z if self._is_straight else self._k * (self._bent[:-1] - self._bent[-1])  # eq. 17.1
        self.log_slope = math.log(self._k) - 0.5 * np.log(self._flat[:-1])  # eq. 17.2
        self._is_off = np.abs(z) > CENTRAL
        self.log_secant = np.log(np.divide(self.y, z, where=self._is_off, out=np.ones_like(z)))

    @cached_property
    def _x_t(self) -> Array:
        """``3 x (n + 1)`` derivatives of x; that of b^2 in t is 1 + b^2."""
        of_side = self._u * self._u + self._x
        high = of_side * self._is_high
        return np.stack([of_side - high, high, -2 * self._c * self._u])

    @cached_property
    def _log_k_t(self) -> Array:
        """``3 x 1`` derivatives of log k."""
        return 0.5 * self._x_t[:, -1:] / self._flat[-1]

    @cached_property
    def log_secant_t(self) -> Array:
        """``3 x n`` derivatives of `log_secant`."""
        return np.divide(self.y_t, self.y, where=self._is_off, out=np.zeros_like(self.y_t))

    @cached_property
    def log_slope_t(self) -> Array:
        """``3 x n`` derivatives of `log_slope`."""
        return self._log_k_t - 0.5 * self._x_t[:, :-1] / self._flat[:-1]

    @cached_property
    def y_t(self) -> Array:
        """``3 x n`` derivatives of `y`."""
        bent_t = self._u * _secant_slope(self._x, self._S) * self._x_t
        bent_t[-1] = -1 / np.sqrt(self._flat)
        return self._log_k_t * self.y + self._k * (bent_t[:, :-1] - bent_t[:, -1:])

    def log_jacobian(self, members: NDArray[np.bool_]) -> float:
        """Log density of outcomes as they were over that of warped ones, some being members of a support."""
        return float(np.where(members, self.log_secant, self.log_slope).sum())  # eq. 17.4

    def log_jacobian_slopes(self, members: NDArray[np.bool_]) -> Array:
        """Derivatives of the log Jacobian in t, ``3``."""
        return np.where(members, self.log_secant_t, self.log_slope_t).sum(1)


class Warps:
    """Several warps at once, each row's own: `WarpedOutcomes` of one outcome a row, or of all.

    Args:
        t: ``B x 3`` coordinates.
    """

    def __init__(self, t: Array) -> None:
        self._c = np.expm1(t[:, :2])
        self._origin, self._is_bent = t[:, 2:], self._c.any(1, keepdims=True)
        self._of_center = self._bend(-self._origin)
        self._k = np.sqrt(1 + self._x(-self._origin))

    def warp(self, z: Array) -> tuple[Array, Array]:
        """``B x n`` warped outcomes, and logarithms of the warps' derivatives.

        Args:
            z: ``B x n`` outcomes, or ``n`` of all rows; their squares must be finite.
        """
        u = z - self._origin
        y = np.where(self._is_bent, self._k * (self._bend(u) - self._of_center), z)
        return y, np.log(self._k) - 0.5 * np.log(1 + self._x(u))  # eq. 17.2

    def unwarp(self, y: Array) -> Array:
        """``B x n`` outcomes before their warp."""
        bent = y / self._k + self._of_center
        b = np.sqrt(self._side(bent))
        far = np.sinh(np.clip(b * bent, -LONGEST, LONGEST)) / np.where(b > 0, b, 1.0)
        return np.where(self._is_bent, self._origin + np.where(b > 0, far, bent), y)

    def _side(self, u: Array) -> Array:
        return np.where(u > 0, self._c[:, 1:], self._c[:, :1])

    def _x(self, u: Array) -> Array:
        return self._side(u) * u * u

    def _bend(self, u: Array) -> Array:
        return u * _secant(self._x(u))


def _secant(x: Array) -> Array:
    """S of x."""
    root = np.sqrt(np.maximum(x, SMALL))
    S: Array = np.arcsinh(root) / root
    is_small = x < SMALL
    if is_small.any():
        near = np.minimum(x, SMALL)
        S = np.where(is_small, 1 + near * (-1 / 6 + near * (3 / 40 - near * (15 / 336 - near * (105 / 3456)))), S)
    return S  # eq. 17.1


def _secant_slope(x: Array, S: Array) -> Array:
    """The derivative of S in x."""
    safe = np.maximum(x, SMALL)
    S_x: Array = (1 / np.sqrt(1 + safe) - S) / (2 * safe)
    is_small = x < SMALL
    if is_small.any():
        near = np.minimum(x, SMALL)
        S_x = np.where(is_small, -1 / 6 + near * (3 / 20 - near * (45 / 336 - near * (420 / 3456))), S_x)
    return S_x
