"""Climbing a likelihood within bounds: Fisher scoring with secant corrections and backtracking.

The information matrix is minus the Hessian on average only. So it is corrected, as in quasi-Newton methods, until it
agrees with how the gradient changed over the last steps; few enough that they still tell about where the search is.

Notation:
    x   m      where the search is
    g   m      gradient
    A   m x m  information: positive semi-definite, minus the Hessian or near it
    s   m      a step that was made
    y   m      how much the gradient fell by it

References:
    Dennis, Gay and Welsch (1981) for secant corrections to such a matrix; Nocedal and Wright (2006), chapters 3 and 6.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

DAMPING = 1e-3  # added to the information, which may be singular
LONGEST = 4.0  # logarithmic units that a coordinate moves at once
ROUNDING = 1e-12  # of the information itself, so that it can be factored whatever its size
CLOSE = 1e-12  # to a bound
UNIT = 100.0  # nats: heights are relative to an arbitrary zero, so that tolerances are of this at least
MEMORY = 2  # secant corrections
HISTORY = 20  # corrections of L-BFGS-B, which has no other information
INFEASIBLE = 1e300  # told to its line search where the function may not be visited
ARMIJO = 1e-4  # share of the rise along the gradient that a step must bring
CURVED = 1e-3  # share of the curvature below which a secant is noise, or the search is where the surface bends upward


class Point(NamedTuple):
    """A place on the way.

    Attributes:
        F: Its height; -inf if it may not be visited.
        derivatives: Computes gradient and information there.
        value: Whatever else the function computed there.
    """

    F: float
    derivatives: Callable[[], tuple[Tensor, Tensor]]
    value: Any = None


class Ascent(NamedTuple):
    """The end of a search.

    Attributes:
        x: The place.
        F: Its height.
        value: Whatever else the function computed there, see `Point`.
        num_evaluations: Number of evaluations of the function.
        converged: Whether it is a maximum within the tolerance.
    """

    x: Tensor
    F: float
    value: Any
    num_evaluations: int
    converged: bool


class Secant(NamedTuple):
    """A step, and how much the gradient fell by it."""

    s: Array
    y: Array


@lapack.quiet()  # what may not be visited may overflow
def ascend(
    at: Callable[[Tensor], Point], x: Tensor, low: Tensor, high: Tensor, *, ftol: float = 1e-9, maxiter: int = 200
) -> Ascent:
    """Climb from x to a local maximum within bounds.

    Args:
        at: The function.
        x: ``m`` coordinates to begin with; moved within the bounds.
        low: ``m`` lower bounds.
        high: ``m`` upper bounds.
        ftol: Gain, made or expected, below which the search ends, by the height or by `UNIT` where that is more.
        maxiter: Steps at most.
    """
    within, tensor = (low.numpy(), high.numpy()), torch.from_numpy
    z = np.clip(x.numpy(), *within)
    current, evaluations, secants = at(tensor(z)), 1, list[Secant]()
    if not math.isfinite(current.F):
        return Ascent(tensor(z), current.F, current.value, evaluations, False)
    g, A = (part.numpy() for part in current.derivatives())
    for _ in range(maxiter):
        enough = ftol * max(UNIT, abs(current.F))
        step = _step(g, correct_information(A, secants), z, *within)
        if not (rise := float(g @ step)) > 0:  # bounds have bent it downhill, or there is no factor
            step = _clip_step(g / (A.diagonal() + DAMPING), z, *within)
            rise = float(g @ step)
        share = 1.0
        while share * rise > 2 * enough:  # half of it is expected
            z_trial = _snap_to_bounds(z + share * step, *within)
            trial, evaluations = at(tensor(z_trial)), evaluations + 1
            gained = trial.F - current.F
            if gained > ARMIJO * share * rise:
                break
            share *= max(0.1, min(0.5, 0.5 * share * rise / (share * rise - gained)))  # the parabola's summit
        else:
            return Ascent(tensor(z), current.F, current.value, evaluations, math.isfinite(rise))
        z, before = z_trial, g
        if gained < enough:
            return Ascent(tensor(z), trial.F, trial.value, evaluations, True)
        current, (g, A) = trial, (part.numpy() for part in trial.derivatives())
        secants = [*secants, Secant(share * step, before - g)][-MEMORY:]
    return Ascent(tensor(z), current.F, current.value, evaluations, False)


@lapack.quiet()
def ascend_by_gradient(
    at: Callable[[Tensor], Point], x: Tensor, low: Tensor, high: Tensor, *, ftol: float = 1e-9, maxiter: int = 200
) -> Ascent:
    """Climb as `ascend` does, by L-BFGS-B: for functions whose points give the gradient alone, and no information.

    Its tolerance is by the height alone.
    """
    visited: dict[bytes, Point] = {}

    def negative(array: np.ndarray) -> tuple[float, np.ndarray]:
        point = visited[array.tobytes()] = at(torch.from_numpy(array.copy()))
        if not math.isfinite(point.F):
            return INFEASIBLE, np.zeros_like(array)
        return -point.F, -point.derivatives()[0].numpy()

    optimum = minimize(
        negative,
        x.clamp(low, high).numpy(),
        jac=True,
        method="L-BFGS-B",
        bounds=torch.stack([low, high], dim=-1).tolist(),
        options={"maxiter": maxiter, "ftol": ftol, "gtol": 1e-5, "maxcor": HISTORY},
    )
    end = optimum.x
    if not math.isfinite((visited.get(end.tobytes()) or at(torch.from_numpy(end))).F):  # it stopped at a step too far
        end = np.frombuffer(max(visited, key=lambda x: visited[x].F)).copy()
    last = visited.get(end.tobytes()) or at(torch.from_numpy(end))
    return Ascent(torch.from_numpy(end), last.F, last.value, optimum.nfev, bool(optimum.success))


def correct_information(A: Array, secants: Sequence[Secant]) -> Array:
    """Update the information by BFGS until ``A s = y`` for the last secant (and nearly for the others)."""
    for s, y in secants:
        As = A @ s
        old, new = float(s @ As), float(s @ y)
        if old > 0 and new > CURVED * old:
            As, y = As / math.sqrt(old), y / math.sqrt(new)
            A = A + y[:, None] * y - As[:, None] * As
    return A


def _step(g: Array, A: Array, x: Array, low: Array, high: Array) -> Array:
    """The Newton step of the coordinates that no bound holds back, within the bounds; none where there is no factor."""
    free = ((x > low) | (g > 0)) & ((x < high) | (g < 0))
    restricted = A * (free[:, None] & free)
    lapack.on_diagonal(restricted, 1 + DAMPING - free + ROUNDING * restricted.diagonal())
    move, is_solved = lapack.solution(restricted, g * free)
    return _clip_step(move if is_solved else np.zeros_like(g), x, low, high)


def _clip_step(move: Array, x: Array, low: Array, high: Array) -> Array:
    """Shorten a move to `LONGEST`, and to what stays within the bounds."""
    shorter = move * (LONGEST / max(LONGEST, np.abs(move).max(initial=0.0)))
    return np.clip(x + shorter, low, high) - x


def _snap_to_bounds(x: Array, low: Array, high: Array) -> Array:
    """Set coordinates that are a rounding error away from a bound to the bound."""
    x = np.where(x - low < CLOSE, low, x)
    return np.where(high - x < CLOSE, high, x)
