"""Maximization of an acquisition function over a region: constraints kept, fixed values as they are.

From the best of many points of the region (spread over it, and near the best ones measured) it climbs, with all
continuous parameters at once by sequential quadratic programming, and with one discrete one after another. What it
returns is a point of the region to the last digit.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo import seeds
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import spread_over

Score = Callable[[Tensor], Tensor]  # n x d completed unit-cube rows -> n values, which can be differentiated
Params = dict[str, Value]

LOOKED_AT = 256  # points spread over the region, of which the best are climbed from
NEAREST = 4  # of the best points measured
AROUND = 32  # points near each
REACH = (-3.0, -0.5)  # powers of ten, of the unit interval, that these are apart
CLIMBS = 3
APART = 0.05  # of the unit interval: from nearer starts climbs end at the same place
ROUNDS = 3  # of further climbs from the best place that the first ones have found, in mixed spaces
STEPS = 30  # of one climb
ENOUGH = 1e-4  # nats that a step of a climb gains, after which it ends
GAIN = 1e-6  # of a score, in nats, below which a round was the last
BACK = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)  # shares of the way back to the start, at which it is in the region


def maximize(score: Score, region: Region, best: Tensor, seed: int) -> Params:
    """The point of a region where a score is greatest.

    Args:
        score: What is maximized.
        region: Where.
        best: ``k x d`` unit-cube rows near which it may well be.
        seed: Of what is drawn.

    Raises:
        SpaceError: If no point of the region is found.
    """
    generator = seeds.generator(seed, 0, "restricted")
    everywhere = spread_over(region)
    some = everywhere[torch.as_tensor(generator.permutation(len(everywhere))[:LOOKED_AT])]
    rows = torch.cat([some, _near(region, best, generator)])
    with torch.no_grad():
        scores = score(rows)
    found = [_climbed(score, region, row, value) for row, value in _starts(rows, scores)]
    found.sort(key=lambda each: -each[1])
    for _ in range(ROUNDS if len(region.continuous) < len(region.free) else 0):
        row, value = _climbed(score, region, *found[0])
        if value <= found[0][1] + GAIN:
            break
        found.insert(0, (row, value))
    for row, _ in found:
        if (point := region.point(row.tolist())) is not None:
            return point
    return next(point for row in rows.tolist() if (point := region.point(row)) is not None)


def _near(region: Region, best: Tensor, generator: np.random.Generator) -> Tensor:
    """Points of a region near some."""
    best = region.complete(best[:NEAREST])
    rows = best.repeat_interleave(AROUND, 0)
    reach = 10 ** generator.uniform(*REACH, size=(len(rows), 1))
    moves = generator.random((len(rows), len(region.free))) < max(0.5, 1 / len(region.free))
    for k, column in enumerate(region.free):
        parameter = region.space.parameters[column][1]
        step = generator.standard_normal(len(rows)) * reach[:, 0] * moves[:, k]
        if not is_continuous(parameter):
            count = parameter.count or 1
            step = np.where(step == 0, 0, np.sign(step) * np.maximum(np.abs(step), 1 / count))
        rows[:, column] = (rows[:, column] + torch.as_tensor(step)).clamp(0.0, 1.0)
    rows = region.complete(torch.cat([best, rows]))
    return region.canonical(rows[region.holds(rows)])


def _starts(rows: Tensor, scores: Tensor) -> list[tuple[Tensor, float]]:
    """The best rows that are apart from each other, and their scores."""
    chosen: list[int] = []
    for i in scores.nan_to_num(-torch.inf).argsort(descending=True, stable=True).tolist():
        if all((rows[i] - rows[j]).abs().max() > APART for j in chosen):
            chosen.append(i)
        if len(chosen) == CLIMBS:
            break
    return [(rows[i], scores[i].item()) for i in chosen]


def _climbed(score: Score, region: Region, row: Tensor, value: float) -> tuple[Tensor, float]:
    """A row from a climb along all continuous parameters, then along discrete ones, and the score there."""
    if region.continuous:
        row, value = _along_continuous(score, region, row, value)
    discrete = [i for i in region.free if i not in region.continuous]
    return _along_discrete(score, region, discrete, row, value) if discrete else (row, value)


def _along_discrete(
    score: Score, region: Region, columns: Sequence[int], row: Tensor, value: float
) -> tuple[Tensor, float]:
    """Likewise, where one discrete parameter changes."""
    while True:
        others = []
        for column in columns:
            levels = torch.tensor(region.space.parameters[column][1].levels, dtype=row.dtype)
            changed = row.expand(len(levels), -1).clone()
            changed[:, column] = levels
            others.append(changed[levels != row[column]])
        rows = region.complete(torch.cat(others))
        rows = region.canonical(rows[region.holds(rows)])
        if not len(rows):
            return row, value
        with torch.no_grad():
            scores = score(rows)
        best = int(scores.nan_to_num(-torch.inf).argmax())
        if not scores[best] > value + GAIN:
            return row, value
        row, value = rows[best], scores[best].item()


def _along_continuous(score: Score, region: Region, row: Tensor, value: float) -> tuple[Tensor, float]:
    """Likewise, where all continuous parameters change."""
    columns = torch.tensor(region.continuous)

    def placed(x: Tensor) -> Tensor:
        return region.complete(row.index_put((columns,), x))

    def by_gradient(function: Callable[[Tensor], Tensor], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        values = function(placed(at))
        slopes = [
            torch.autograd.grad(v, at, retain_graph=True, allow_unused=True)[0] if v.requires_grad else None
            for v in values  # some are of discrete values alone
        ]
        rows = [torch.zeros_like(at) if s is None else s for s in slopes]
        return values.detach().nan_to_num(0.0).numpy(), torch.stack(rows).nan_to_num(0.0).numpy()

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes = by_gradient(lambda at: -score(at.unsqueeze(0)), x)
        return float(values[0]), slopes[0]

    kept = {"type": "ineq", "fun": lambda x: region.slack(placed(torch.as_tensor(x))).nan_to_num(-1.0).numpy()}
    kept["jac"] = lambda x: by_gradient(region.slack, x)[1]
    has_any = region.slack(row).numel() > 0
    with torch.enable_grad():
        found = minimize(
            loss,
            row[columns].numpy(),
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(columns),
            constraints=[kept] if has_any else [],
            options={"maxiter": STEPS, "ftol": ENOUGH},
        )
    there = torch.as_tensor(found.x).clamp(0.0, 1.0)
    for share in BACK:
        made = region.canonical(placed(there + share * (row[columns] - there)).unsqueeze(0))
        if made.isfinite().all() and region.holds(made)[0] and region.point(made[0].tolist()) is not None:
            with torch.no_grad():
                reached = score(made)[0].item()
            return (made[0], reached) if reached > value else (row, value)
    return row, value
