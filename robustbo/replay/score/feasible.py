"""The best value of a run's problem among the points that do not fail: what regret is measured from."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from robustbo.errors import SpecError
from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.failing import InjectedFailure
from robustbo.tasks.problem import Problem

POINTS = 2**14  # of the Sobol sequence: with a hundredth of the space in a region, 160 in it
STARTS = 16  # searches, from the best of these
SIZES = 10.0 ** -np.arange(1.0, 8.0)  # of the simplex that a search begins anew with: it collapses at a region's border


def best_feasible(spec: RunSpec) -> float:
    """The best true value that a trial of a run can measure; that of the problem where no region fails.

    Raises:
        SpecError: If there is no such point among many, or no region and the problem's best is not known.
    """
    if spec.best is not None:
        return spec.best[1]
    problem, corruption = spec.load_problem(), spec.build_corruption()
    if not isinstance(corruption, InjectedFailure) or corruption.inside is None:
        raise SpecError(f"{problem.name}: its best value must be known, got none")
    return search(problem, corruption.fails_at)


def search(problem: Problem, fails_at: Callable[[dict], bool]) -> float:
    """The best value outside a region: the best of many Sobol points, and of Nelder and Mead's searches from there.

    Raises:
        SpecError: If every point fails.
    """
    sign = -1.0 if problem.direction == "maximize" else 1.0
    loss = partial(_loss, problem, fails_at, sign)
    points = qmc.Sobol(len(problem.space), scramble=False).random(POINTS)
    values = np.array([loss(u) for u in points])
    if not np.isfinite(values).any():
        raise SpecError(f"{problem.name}: a point that does not fail must exist, got none of {POINTS}")
    best_value = min(_refine(loss, points[i]) for i in np.argsort(values)[:STARTS] if np.isfinite(values[i]))
    return sign * best_value


def _refine(loss: Callable[[np.ndarray], float], u: np.ndarray) -> float:
    best = loss(u)
    for size in SIZES:
        simplex = np.vstack([u, u + size * np.where(u < 0.5, 1.0, -1.0) * np.eye(len(u))])
        options = {"initial_simplex": simplex, "xatol": 1e-10, "fatol": 1e-13, "maxfev": 300 * len(u)}
        result = minimize(loss, u, method="Nelder-Mead", options=options)
        if result.fun < best:
            u, best = result.x, float(result.fun)
    return best


def _loss(problem: Problem, fails_at: Callable[[dict], bool], sign: float, u: np.ndarray) -> float:
    """Function that is minimized: infinite outside the cube and in the region."""
    if (u < 0).any() or (u > 1).any():
        return np.inf
    params = problem.space.from_unit(u.tolist())
    return np.inf if fails_at(params) else sign * problem(params)
