"""Maximization of an acquisition function over a region: constraints kept, fixed values as they are.

From the best of many points of the region (spread over it, and near the best ones measured) it climbs, along all
continuous parameters at once: within bounds by BFGS, all climbs together, and where there are constraints by sequential
quadratic programming. Numbers that have steps are searched at first as if any would do; then one discrete parameter
changes after another, in turn with the continuous ones. What it returns is a point of the region to the last digit.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.loop.optimize_acqf.discrete import (
    GAIN,
    best_of_faces,
    change_faces,
    climb_discrete,
    levels_to_try,
    values_of,
)
from robustbo.loop.optimize_acqf.newton_polish import polish
from robustbo.loop.optimize_acqf.projected_bfgs import maximize_by_bfgs
from robustbo.loop.optimize_acqf.slsqp import Score, ScoreWithGradient, maximize_by_slsqp
from robustbo.loop.optimize_acqf.ties import level_ties
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import Choice, Ordinal, Value
from robustbo.searchspace.region.faces import UnionOfFaces
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import spread_over

Params = dict[str, Value]

LOOKED_AT = 512  # points spread over the region, of which the best are climbed from
NEAREST = 4  # of the best points measured
AROUND = 32  # points near each
REACH = (-3.0, -0.5)  # powers of ten, of the unit interval, that these are apart
CLIMBS = 12  # at once
FURTHER = 4  # of the best of these go on in mixed spaces, along discrete parameters and along continuous ones in turn
FACES = 32  # of which the best points are climbed from too, where at most some parameters may be on
CONSTRAINED = 3  # one after another, where there are constraints
CONSTRAINED_FACES = 8  # likewise, in several faces
APART = 0.1  # of the unit interval: from nearer starts climbs often end at the same place
ROUNDS = 8
STEPS = 60  # of a climb
ENOUGH = 1e-5  # nats that a step of a climb would gain, below which it ends


def maximize(
    score: Score,
    region: Region,
    best: Tensor,
    seed: int,
    coarse: Score | None = None,
    gradient: ScoreWithGradient | None = None,
) -> Params:
    """The point of a region where a score is greatest.

    Args:
        score: What is maximized.
        region: Where.
        best: ``k x d`` unit-cube rows near which it may well be.
        seed: Of what is drawn.
        coarse: Nearly the same, and cheaper: by which it is seen where to begin; the score itself by default.
        gradient: The score with its gradient along continuous parameters; by automatic differentiation by default.

    Raises:
        SpaceError: If no point of the region is found.
        ArithmeticError: If the score is a number at none that is looked at.
    """
    generator = seeds.generator(seed, 0, "restricted")  # the name it had first
    everywhere = spread_over(region)
    scattered = everywhere[torch.as_tensor(generator.permutation(len(everywhere))[:LOOKED_AT])]
    rows = torch.cat([scattered, _near(region, best, generator)])
    starts = _starts(region, rows, values_of(score if coarse is None else coarse, rows))
    gradient = partial(_differentiate, score) if gradient is None else gradient
    relaxed = _relax_steps(score, gradient, region, starts, values_of(score, starts))
    tops, values = _climb(score, gradient, region, *relaxed)
    discrete = {i: levels_to_try(region, i, best) for i in region.free if i not in region.continuous}
    for _ in range(ROUNDS if discrete or isinstance(region, UnionOfFaces) else 0):
        further = values.argsort(descending=True, stable=True)[:FURTHER]
        moved = climb_discrete(score, region, discrete, tops[further], values[further])
        if isinstance(region, UnionOfFaces):
            moved = _with_other_faces(score, region, *moved)
        again, higher = _climb(score, gradient, region, *moved)
        gain = float(higher.max() - values.max())
        tops, values = torch.cat([again, tops]), torch.cat([higher, values])
        if not gain > GAIN:
            break
    if not values.isfinite().any():
        raise ArithmeticError(f"the acquisition function must be finite at one point at least, got {values.tolist()}")
    is_finished = bool(region.continuous) and region.is_boxed  # nothing but bounds is in the way
    for row in tops[level_ties(values, ENOUGH if is_finished else 0.0).argsort(descending=True, stable=True)]:
        row = _polish(gradient, region, row) if is_finished else row
        if (point := region.point(row.tolist())) is not None:
            return point
    for row in rows.tolist():
        if (point := region.point(row)) is not None:
            return point
    raise SpaceError(f"at least one candidate must lie in the region, none of {len(rows)} is")


def _near(region: Region, best: Tensor, generator: np.random.Generator) -> Tensor:
    """Points of a region near some."""
    best = region.complete(region.project(best[:NEAREST]))
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
    rows = region.complete(region.project(torch.cat([best, rows])))
    return region.canonical(rows[region.holds(rows)])


def _starts(region: Region, rows: Tensor, scores: Tensor) -> Tensor:
    """The best rows that are apart from each other, the best first; and of many faces the best of each."""
    left, indices = scores.argsort(descending=True, stable=True), list[int]()
    while len(left) and len(indices) < CLIMBS:
        indices.append(int(left[0]))
        left = left[(rows[left] - rows[indices[-1]]).abs().amax(-1) > APART]
    if isinstance(region, UnionOfFaces):
        indices = [*dict.fromkeys([*best_of_faces(region, rows, scores, FACES), *indices])]
    return rows[indices]


def _relax_steps(
    score: Score, gradient: ScoreWithGradient, region: Region, rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows from climbs on which numbers that have steps are searched as if any would do, where that leads higher."""
    numeric = [i for i in region.free if not isinstance(region.space.parameters[i][1], Choice | Ordinal)]
    if numeric == region.continuous or not region.is_boxed:
        return rows, values
    tops, _ = _climb_within_bounds(gradient, region, rows, numeric)
    higher = values_of(score, tops)
    is_up = higher > values
    return torch.where(is_up[:, None], tops, rows), torch.where(is_up, higher, values)


def _climb(
    score: Score, gradient: ScoreWithGradient, region: Region, rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows from climbs along all continuous parameters, and the scores there."""
    if not region.continuous:
        return rows, values
    if region.is_boxed:
        return _climb_within_bounds(gradient, region, rows, region.continuous)
    num = CONSTRAINED_FACES if isinstance(region, UnionOfFaces) else CONSTRAINED
    begins = zip(rows[:num], values[:num].tolist(), strict=True)
    climbs = (maximize_by_slsqp(score, gradient, region.face_at(row), row, value) for row, value in begins)
    tops, reached = zip(*climbs, strict=True)
    rest = slice(num, None)
    return torch.cat([torch.stack(tops), rows[rest]]), torch.cat([values.new_tensor(reached), values[rest]])


def _with_other_faces(score: Score, region: UnionOfFaces, rows: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Rows behind the best of those in the faces beside theirs."""
    neighbors, scores = change_faces(score, region, rows, CLIMBS)
    return torch.cat([neighbors, rows]), torch.cat([scores, values])


def _climb_within_bounds(
    gradient: ScoreWithGradient, region: Region, rows: Tensor, columns: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Rows from climbs along some parameters, and the scores there before they are put into one form."""
    (n, d), can_move = rows.shape, region.can_move(rows)
    is_moved = np.isin(np.arange(d), columns) & can_move
    is_of_row = len(can_move) == n > 1
    begins = np.column_stack([rows.numpy(), np.arange(n) / n]) if is_of_row else rows.numpy()  # the last says which row

    def both(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = (part.numpy() for part in gradient(torch.from_numpy(x[:, :d])))
        moved = is_moved[np.rint(x[:, d] * n).astype(int)] if is_of_row else is_moved
        slopes = np.where(moved & np.isfinite(slopes), slopes, 0.0)
        return values, np.pad(slopes, ((0, 0), (0, x.shape[1] - d)))

    tops, values = maximize_by_bfgs(both, begins, STEPS, ENOUGH)
    return region.canonical(torch.from_numpy(tops[:, :d].copy())), torch.from_numpy(values)


def _polish(gradient: ScoreWithGradient, region: Region, row: Tensor) -> Tensor:
    """The maximum near a row along all continuous parameters."""

    def gradients(x: np.ndarray) -> np.ndarray:
        return gradient(torch.from_numpy(x))[1].numpy()

    columns = region.face_at(row).continuous
    return region.canonical(torch.from_numpy(polish(gradients, row.numpy(), columns))[None])[0] if columns else row


def _differentiate(score: Score, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and their gradients by automatic differentiation."""
    with torch.enable_grad():
        at = rows.clone().requires_grad_()
        values = score(at)
        (slopes,) = torch.autograd.grad(values.sum(), at)
    return values.detach(), slopes
