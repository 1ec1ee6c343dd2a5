"""Climbs from several places of the unit cube at once: BFGS within bounds, one evaluation a round for all.

Coordinates that stand at a bound, and would leave, are held; the step in the others is Newton's for the model that the
gradients so far tell of. What leaves the cube is put back on its face. A step that gains too little is made again,
shorter; meanwhile the other climbs go on.

Notation (b climbs):
    x, g   b x d      where they are, and the gradient there
    f      b          values
    H      b x d x d  models of minus the Hessian, positive definite
    p      b x d      steps, at their full length
    t      b          shares of these to be made

References:
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints; Nocedal and Wright
    (2006), chapters 3 and 6.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array

ValuesAndGradients = Callable[[Array], tuple[Array, Array]]  # k x d places -> k values, and their k x d gradients

FIRST = 0.1  # of the unit interval: the first step's largest part
LONGEST = 0.3  # likewise, of any step
ARMIJO = 1e-4  # share of the rise along the gradient that a step must bring
SHORTER = (0.1, 0.5)  # times its length, a step that did not
CURVED = 1e-8  # cosine between a step and how the gradient changed by it, from which that tells of curvature
TINY = 1e-12  # a gradient: that of a plane
SHORTEST = 1e-7  # of the unit interval: a step that gains nothing and is shorter ends a climb


class ClimbStates(NamedTuple):
    """The states of all climbs, and their next steps: see the notation."""

    x: Array
    f: Array
    g: Array
    H: Array
    p: Array
    t: Array
    rise: Array  # that the models promise for the full steps
    is_new: NDArray[np.bool_]  # whose model has not learned yet


def maximize_by_bfgs(both: ValuesAndGradients, x: Array, rounds: int, enough: float) -> tuple[Array, Array]:
    """Higher places, and the values there.

    Args:
        both: What is climbed; where it is no number nobody goes.
        x: ``b x d`` places to begin with.
        rounds: Evaluations at most, of each.
        enough: A climb ends where its model promises less than this.
    """
    at, going = _begin(x, *both(x)), np.arange(len(x))
    x, f, stays = x.copy(), at.f.copy(), at.rise > enough
    for _ in range(rounds):
        if not stays.all():
            at, going = ClimbStates(*(part[stays] for part in at)), going[stays]  # type: ignore[arg-type]
        if not len(going):
            break
        tried = np.minimum(np.maximum(at.x + at.t[:, None] * at.p, 0.0), 1.0)
        value, slope = both(tried)
        gained = np.where(np.isfinite(value), value, -np.inf) - at.f
        slope_rise = np.vecdot(at.g, tried - at.x)
        is_up = (gained > 0) & (gained >= ARMIJO * slope_rise)
        shortened = at if is_up.all() else _shorten(at, gained, slope_rise)
        at = _merge(is_up, _update(at, tried, value, slope), shortened) if is_up.any() else shortened
        x[going], f[going] = at.x, at.f
        stays = np.where(is_up, at.rise > enough, at.t * np.abs(at.p).max(-1) > SHORTEST)
    return x, f


def _begin(x: Array, f: Array, g: Array) -> ClimbStates:
    H, f = _first(g), np.where(np.isfinite(f), f, -np.inf)
    return ClimbStates(x, f, g, H, *_step(x, g, H), np.ones(len(x), dtype=bool))


def _step(x: Array, g: Array, H: Array) -> tuple[Array, Array, Array]:
    """Steps, all of which are to be made, and the rise that their model promises."""
    is_held = ((x <= 0) & (g < 0)) | ((x >= 1) & (g > 0))
    if is_held.any():
        g = np.where(is_held, 0.0, g)
        H = np.where(is_held[:, :, None] | is_held[:, None, :], np.eye(g.shape[1]), H)
    p = _solve(H, g)
    rise = 0.5 * np.vecdot(g, p)
    longest = np.abs(p).max(-1, keepdims=True)
    return p * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST)), np.ones(len(x)), rise


def _solve(H: Array, g: Array) -> NDArray[np.floating]:
    """inv(H) g; a model that rounding has left singular is that of the first step again."""
    try:
        return np.linalg.solve(H, g[..., None])[..., 0]
    except np.linalg.LinAlgError:
        is_singular = np.linalg.slogdet(H).sign == 0
        return np.linalg.solve(np.where(is_singular[:, None, None], _first(g), H), g[..., None])[..., 0]


def _first(g: Array) -> Array:
    """Models by which the step along a gradient has length `FIRST`."""
    return np.eye(g.shape[1]) * (np.maximum(np.abs(g).max(-1), TINY) / FIRST)[:, None, None]


def _shorten(at: ClimbStates, gained: Array, slope_rise: Array) -> ClimbStates:
    """The climbs with steps as long as where a parabola through value, slope and the value tried is highest."""
    with np.errstate(invalid="ignore", divide="ignore"):
        fitting = at.t * slope_rise / (2 * (slope_rise - gained))
    return at._replace(t=np.clip(np.nan_to_num(fitting), SHORTER[0] * at.t, SHORTER[1] * at.t))


def _update(at: ClimbStates, x: Array, f: Array, g: Array) -> ClimbStates:
    """The climbs at their new places, with models that have learned from the step (BFGS), and new steps."""
    s, y = x - at.x, at.g - g
    sy, yy, ss = np.vecdot(s, y), np.vecdot(y, y), np.vecdot(s, s)
    learns = sy > CURVED * np.sqrt(yy * ss)
    H = at.H
    if (first := learns & at.is_new).any():
        H = np.where(first[:, None, None], (yy / np.where(learns, sy, 1.0))[:, None, None] * np.eye(x.shape[1]), H)
    Hs = (H @ s[..., None])[..., 0]
    y, Hs = (
        v * learns[:, None] / np.sqrt(np.where(learns, d, 1.0))[:, None] for v, d in ((y, sy), (Hs, np.vecdot(s, Hs)))
    )
    H = H + y[:, :, None] * y[:, None, :] - Hs[:, :, None] * Hs[:, None, :]
    return ClimbStates(x, f, g, H, *_step(x, g, H), at.is_new & ~learns)


def _merge(is_first: NDArray[np.bool_], first: ClimbStates, second: ClimbStates) -> ClimbStates:
    """The states of the first where that is said, else of the second."""
    if is_first.all():
        return first
    parts = zip(first, second, strict=True)
    return ClimbStates(*(np.where(is_first.reshape(-1, *(1,) * (a.ndim - 1)), a, b) for a, b in parts))
