"""Polishing by Newton's method, from where a climb ended to the maximum itself: a point that hangs on no last digit.

A climb ends near a maximum, but rounding decides where exactly: a digit that differs early is another way up, and the
values near a maximum are too much alike to say where it is. The gradient does: it vanishes there. Newton's method on it
gives the place to some nine digits, on any processor.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array

Gradients = Callable[[Array], Array]  # k x d places -> their k x d gradients

APART = 1e-5  # of the unit interval: places from whose gradients second derivatives are taken
NEAR = 1e-2  # likewise: the longest step towards a maximum that is near
LAST = 1e-8  # likewise: a step that is the last
SHRINKS = 0.3  # times the last, a step by the same second derivatives, or they are taken anew
STEPS = 12  # at most


def polish(gradients: Gradients, x: Array, columns: Sequence[int]) -> Array:
    """The maximum near a place in the unit cube; the place itself where there is none so near.

    Args:
        gradients: Of what has the maximum.
        x: ``d`` coordinates of the place.
        columns: Those along which it may move.
    """
    free, at, before, H = np.asarray(columns), x.copy(), NEAR, None
    for _ in range(STEPS):
        if H is None:
            g, H = _derivatives(gradients, at, free)
        else:
            g = gradients(at[None])[0, free]
        p = _step(at[free], g, H)
        if p is None or not (length := float(np.abs(p).max())) <= before:
            return x
        at[free] = np.clip(at[free] + p, 0.0, 1.0)
        if length <= LAST:
            return at
        H, before = H if length <= SHRINKS * before or before == NEAR else None, length
    return x


def _derivatives(gradients: Gradients, x: Array, free: NDArray[np.intp]) -> tuple[Array, Array]:
    """The gradient at a place, and minus the second derivatives, by differences within the cube."""
    shift = np.where(x[free] + APART > 1, -APART, APART)
    near = np.repeat(x[None], len(free) + 1, axis=0)
    near[np.arange(1, len(near)), free] += shift
    g, *shifted = gradients(near)[:, free]
    H = (g - np.array(shifted)) / shift[:, None]
    return g, (H + H.T) / 2


def _step(x: Array, g: Array, H: Array) -> Array | None:
    """Newton's step; None where the function is not concave. What stands at a bound, and would leave, is held."""
    is_held = ((x <= 0) & (g < 0)) | ((x >= 1) & (g > 0))
    H = np.where(is_held[:, None] | is_held[None, :], np.eye(len(x)), H)
    if not (np.isfinite(H).all() and np.linalg.eigvalsh(H)[0] > 0):
        return None
    return np.asarray(np.linalg.solve(H, np.where(is_held, 0.0, g)))
