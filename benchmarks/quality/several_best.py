"""The best that problems of several outcomes have: the largest hypervolumes, the best values that keep the constraints.

Hypervolume is that of a grid over two inputs (those that the front needs; others at 0.5), refined around the points
that no other beats. The best feasible values are searched by SLSQP from many points; that of the pressure vessel, whose
cost has steps, for each pair of wall thicknesses on a fine grid of radii, with the least length that holds the volume.
A row a problem, beside what BoTorch says; `problems/robustbo_problems/several.py` keeps what is found. Half a minute.

    python -m benchmarks.quality.several_best
"""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import torch
from botorch.test_functions.multi_objective import C2DTLZ2, BraninCurrin, MultiObjectiveTestProblem
from scipy.optimize import minimize
from torch import Tensor

from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put
from robustbo.report.summary.tables import Rows
from robustbo.tasks.several import SeveralProblem
from robustbo_problems.several import gardner, pressure_vessel, welded_beam

STARTS, SLACK = 200, 1e-9  # searches by SLSQP, and how far it may be beyond a constraint, as a share of its range
RADII = 200_001  # of vessels
SIDE, AROUND, TIMES = 1001, 12, 2  # points a side of the first grid, of those around a point to a side, refinements


def front(function: MultiObjectiveTestProblem, X: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of ``n x d`` inputs that are feasible and beaten by no other, and their objectives, by the first."""
    Y = function.evaluate_true(X)
    keep = (function.ref_point > Y).all(-1)
    if hasattr(function, "num_constraints"):
        keep &= (function.evaluate_slack_true(X) >= 0).all(-1)
    X, Y = X[keep], Y[keep]
    order = Y[:, 1].argsort(stable=True)
    order = order[Y[order, 0].argsort(stable=True)]
    least = Y[order, 1].cummin(0).values
    order = order[torch.cat([torch.tensor([True]), Y[order[1:], 1] < least[:-1]])]
    return X[order], Y[order]


def largest_hypervolume(function: MultiObjectiveTestProblem) -> float:
    """Hypervolume that the feasible points of a refined grid dominate within the reference point."""
    step = 1 / (SIDE - 1)
    side = torch.linspace(0, 1, SIDE, dtype=torch.float64)
    around = torch.linspace(-1, 1, 2 * AROUND + 1, dtype=torch.float64)
    X, Y = front(function, _pad_inputs(function, torch.cartesian_prod(side, side)))
    for _ in range(TIMES):
        parts = []
        for part in X.split(2000):
            near = part[:, None, :2] + step * torch.cartesian_prod(around, around)
            parts.append(front(function, _pad_inputs(function, near.reshape(-1, 2).clamp(0, 1)))[0])
        X, Y = front(function, torch.cat(parts))
        step /= AROUND
    right = torch.cat([Y[1:, 0], function.ref_point[:1]])
    return ((right - Y[:, 0]) * (function.ref_point[1] - Y[:, 1])).sum().item()


def _pad_inputs(function: MultiObjectiveTestProblem, U: Tensor) -> Tensor:
    X = torch.full((len(U), function.dim), 0.5, dtype=torch.float64)
    X[:, :2] = U
    return X


def best_feasible(problem: SeveralProblem) -> float:
    """The least value that keeps the constraints, of a smooth problem."""
    starts = np.random.default_rng(0).random((STARTS, len(problem.space)))
    scale = np.abs([_values(problem, u)[1:] for u in starts]).max(0)
    rules = {"type": "ineq", "fun": lambda u: _values(problem, u)[1:] / scale}
    bests = [math.inf]
    for u in starts:
        minimum = minimize(
            lambda u: _values(problem, u)[0],
            u,
            method="SLSQP",
            bounds=[(0, 1)] * len(u),
            constraints=rules,
            options={"maxiter": 300, "ftol": 1e-12},
        )
        if (_values(problem, minimum.x)[1:] / scale >= -SLACK).all():
            bests.append(float(minimum.fun))
    return min(bests)


def _values(problem: SeveralProblem, u: np.ndarray) -> np.ndarray:
    return np.array(list(problem.outcomes(problem.space.from_unit(np.clip(u, 0, 1).tolist())).values()))


def best_vessel() -> float:
    """The cheapest vessel: thicknesses go by sixteenths of an inch in its cost, but count as they are in its slacks."""
    bests = [math.inf]
    for shell, head in product(np.arange(1, 21) / 16, repeat=2):
        radius = np.linspace(10, min((shell + 1 / 32) / 0.0193, (head + 1 / 32) / 0.00954, 50), RADII)
        length = np.maximum(150, (1296000 - 4 / 3 * math.pi * radius**3) / (math.pi * radius**2))
        cost = 0.6224 * shell * radius * length + 1.7781 * head * radius**2
        cost += 3.1661 * shell**2 * length + 19.84 * shell**2 * radius
        bests.append(float(cost[length <= 200].min(initial=math.inf)))
    return min(bests)


def main() -> None:
    """Compute, print and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    rows: Rows = []
    fronts = (("branin-currin", BraninCurrin()), ("c2-dtlz2", C2DTLZ2(dim=4, num_objectives=2)))
    for name, function in fronts:
        rows.append({"problem": name, "best": largest_hypervolume(function), "botorch": function._max_hv})
    searches: list[tuple[SeveralProblem, Callable[[], float], float | None]] = [
        (gardner(-0.5), lambda: best_feasible(gardner(-0.5)), None),
        (pressure_vessel, best_vessel, 6059.946341),
        (welded_beam, lambda: best_feasible(welded_beam), 1.728226),
    ]
    for problem, search, botorch in searches:
        rows.append({"problem": problem.name, "best": search(), "botorch": botorch})
    put({"several-best": rows}, options.out)


if __name__ == "__main__":
    main()
