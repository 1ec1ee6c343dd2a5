"""Data sets of several outcomes whose corruptions are known: what `joint_evidence.py` fits and scores.

Half of the points are Sobol's, half lie near good ones, as in a study under way. A part of the trials fails: in all
outcomes, in one (always the same: a sensor), or none does.
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from botorch.test_functions import multi_objective, synthetic
from torch import Tensor

from robustbo import seeds

SIZES = (20, 40, 80)
RATES = (0.1, 0.2)
MODES = ("elsewhere", "uniform", "shrunk", "moderate")
MOST = 4  # outcomes of a problem, the first ones
NEAR = 0.1  # standard deviation of a point's distance from a good one, in the unit cube
NOISES = (0.01, 0.05)  # of an outcome's spread; even and odd seeds
TEST_POINTS = 256
SHRUNK = 0.7

CHOOSING = ("branin-currin", "vehicle-safety", "c2-dtlz2")
JUDGING = ("dtlz2", "welded-beam", "pressure-vessel", "penicillin", "car-side-impact")
PROBLEMS = {
    "branin-currin": multi_objective.BraninCurrin,
    "vehicle-safety": multi_objective.VehicleSafety,
    "c2-dtlz2": lambda: multi_objective.C2DTLZ2(4, 2),
    "dtlz2": lambda: multi_objective.DTLZ2(6, 3),
    "welded-beam": synthetic.WeldedBeamSO,
    "pressure-vessel": synthetic.PressureVessel,
    "penicillin": multi_objective.Penicillin,
    "car-side-impact": multi_objective.CarSideImpact,
}


class Cell(NamedTuple):
    """One data set: which trials are struck, in which outcomes ("all", "one", "none"), by what, and how many."""

    problem: str
    n: int
    strikes: str
    mode: str
    rate: float
    seed: int


class Data(NamedTuple):
    """Measured values, which of them are wrong (both ``n x M``), clean test values, and every outcome's spread."""

    X: Tensor
    Y: Tensor
    bad: Tensor
    X_test: Tensor
    Y_test: Tensor
    spread: Tensor


def cells(problems: tuple[str, ...], num_seeds: int) -> list[Cell]:
    """All data sets of some problems, seed by seed."""
    struck = [*product(("all", "one"), MODES, RATES), ("none", "none", 0.0)]
    return [Cell(p, n, *how, seed) for seed in range(num_seeds) for p in problems for n in SIZES for how in struck]


def data(cell: Cell) -> Data:
    """The data set of a cell; points and noise are the same whatever strikes."""
    clean = _clean(cell.problem, cell.n, cell.seed)
    bad = _struck(cell, clean.Y.shape[1])
    wrong = _wrong(cell, clean.Y, clean.pool, clean.spread)
    return Data(clean.X, torch.where(bad, wrong, clean.Y), bad, clean.X_test, clean.Y_test, clean.spread)


class _Clean(NamedTuple):
    X: Tensor
    Y: Tensor
    X_test: Tensor
    Y_test: Tensor
    spread: Tensor
    pool: Tensor  # values anywhere


@lru_cache(maxsize=1)
def _clean(problem: str, n: int, seed: int) -> _Clean:
    rng = seeds.generator(seed, n, problem)
    U = torch.quasirandom.SobolEngine(PROBLEMS[problem]().dim, scramble=True, seed=seed).draw(512).double()
    pool = outcomes(problem, U)
    X, X_test = (_points(U, pool, k, rng) for k in (n, TEST_POINTS))
    f, f_test = outcomes(problem, X), outcomes(problem, X_test)
    spread = f_test.std(0)
    noise = NOISES[seed % len(NOISES)] * spread
    Y, Y_test = (g + noise * torch.from_numpy(rng.standard_normal(g.shape)) for g in (f, f_test))
    return _Clean(X, Y, X_test, Y_test, spread, pool)


def outcomes(problem: str, U: Tensor) -> Tensor:
    """``m x M`` clean values at ``m x d`` points of the unit cube: objectives, then slacks."""
    function = PROBLEMS[problem]()
    low, high = function.bounds.double()
    X = low + (high - low) * U
    parts = [function.evaluate_true(X).reshape(len(X), -1)]
    if hasattr(function, "evaluate_slack_true"):
        parts.append(function.evaluate_slack_true(X))
    return torch.cat(parts, -1)[:, :MOST]


def _points(pool: Tensor, values: Tensor, count: int, rng: np.random.Generator) -> Tensor:
    """Half anywhere, half near the best of a pool by a random weighing of the outcomes' ranks (less is better)."""
    half, d = count // 2, pool.shape[1]
    anywhere = torch.from_numpy(rng.random((count - half, d)))
    ranks = values.argsort(0).argsort(0).double()
    good = pool[(ranks @ torch.from_numpy(rng.random((values.shape[1], 4)))).argmin(0)]
    near = good[torch.from_numpy(rng.integers(4, size=half))] + NEAR * torch.from_numpy(rng.standard_normal((half, d)))
    return torch.cat([anywhere, near.clamp(0, 1)])


def _struck(cell: Cell, num_outcomes: int) -> Tensor:
    """Mask of wrong values: the same trials whatever the mode."""
    rng = seeds.generator(cell.seed, cell.n, f"{cell.problem} struck")
    bad = torch.zeros(cell.n, num_outcomes, dtype=torch.bool)
    rows, sensor = rng.permutation(cell.n)[: round(cell.rate * cell.n)], int(rng.integers(num_outcomes))
    if cell.strikes != "none":
        bad[rows] = torch.arange(num_outcomes) == sensor if cell.strikes == "one" else True
    return bad


def _wrong(cell: Cell, Y: Tensor, pool: Tensor, spread: Tensor) -> Tensor:
    """``n x M`` values of what the failed would give."""
    rng = seeds.generator(cell.seed, cell.n, f"{cell.problem} {cell.mode}")
    at = torch.from_numpy(rng.integers(len(pool), size=cell.n))
    sign = torch.from_numpy(rng.choice([-1.0, 1.0], Y.shape))
    u, low, high = torch.from_numpy(rng.random(Y.shape)), pool.quantile(0.01, 0), pool.quantile(0.99, 0)
    return {
        "elsewhere": lambda: pool[at],
        "uniform": lambda: low + (high - low) * u,
        "shrunk": lambda: SHRUNK * Y,
        "moderate": lambda: Y + sign * (2 + 2 * u) * spread,
        "none": lambda: Y,
    }[cell.mode]()
