"""Maximization of an acquisition function over a region: constraints kept, fixed values as they are.

From the best of many points of the region (spread over it, and near the best ones measured) it climbs, along all
continuous parameters at once: within bounds by BFGS, all climbs together, and where there are constraints by sequential
quadratic programming. Numbers that have steps are searched at first as if any would do; then one discrete parameter
changes after another, in turn with the continuous ones. What it returns is a point of the region to the last digit.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.loop.optimize_acqf.newton_polish import polish
from robustbo.loop.optimize_acqf.projected_bfgs import maximize_by_bfgs
from robustbo.loop.optimize_acqf.slsqp import Score, ScoreWithGradient, maximize_by_slsqp
from robustbo.loop.optimize_acqf.ties import first_of_best, level_ties
from robustbo.searchspace.columns import cell_middles, cell_numbers, is_continuous
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter, Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import spread_over
from robustbo.surrogates.transforms.input_encoding import ONE_HOT

Params = dict[str, Value]

LOOKED_AT = 512  # points spread over the region, of which the best are climbed from
NEAREST = 4  # of the best points measured
AROUND = 32  # points near each
REACH = (-3.0, -0.5)  # powers of ten, of the unit interval, that these are apart
CLIMBS = 12  # at once
MEASURED = 32  # values of one of very many that are tried: those measured at the best points
FURTHER = 4  # of the best of these go on in mixed spaces, along discrete parameters and along continuous ones in turn
CONSTRAINED = 3  # one after another, where there are constraints
APART = 0.1  # of the unit interval: from nearer starts climbs often end at the same place
ROUNDS = 8
STEPS = 60  # of a climb
ENOUGH = 1e-5  # nats that a step of a climb would gain, below which it ends
GAIN = 1e-6  # of a score, in nats, below which a round was the last


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
        coarse: Nearly the same, and cheaper: by which it is seen where to begin; the score itself unless given.
        gradient: The score with its gradient along continuous parameters; by automatic differentiation unless given.

    Raises:
        SpaceError: If no point of the region is found.
        ArithmeticError: If the score is a number at none that is looked at.
    """
    generator = seeds.generator(seed, 0, "restricted")  # the name it had first
    everywhere = spread_over(region)
    scattered = everywhere[torch.as_tensor(generator.permutation(len(everywhere))[:LOOKED_AT])]
    rows = torch.cat([scattered, _near(region, best, generator)])
    starts = _starts(rows, _values(score if coarse is None else coarse, rows))
    gradient = partial(_differentiate, score) if gradient is None else gradient
    relaxed = _relax_steps(score, gradient, region, starts, _values(score, starts))
    tops, values = _climb(score, gradient, region, *relaxed)
    discrete = {i: _levels_to_try(region, i, best) for i in region.free if i not in region.continuous}
    for _ in range(ROUNDS if discrete else 0):
        further = values.argsort(descending=True, stable=True)[:FURTHER]
        moved = _climb_discrete(score, region, discrete, tops[further], values[further])
        again, higher = _climb(score, gradient, region, *moved)
        gain = float(higher.max() - values.max())
        tops, values = torch.cat([again, tops]), torch.cat([higher, values])
        if not gain > GAIN:
            break
    if not values.isfinite().any():
        raise ArithmeticError(f"what is maximized must be finite somewhere, got {values.tolist()}")
    is_finished = bool(region.continuous) and not region.shape.num_slacks  # nothing but bounds is in the way
    for row in tops[level_ties(values, ENOUGH if is_finished else 0.0).argsort(descending=True, stable=True)]:
        row = _polish(gradient, region, row) if is_finished else row
        if (point := region.point(row.tolist())) is not None:
            return point
    for row in rows.tolist():
        if (point := region.point(row)) is not None:
            return point
    raise SpaceError(f"some point that is looked at must be one of the region, none of {len(rows)} is")


def _values(score: Score, rows: Tensor) -> Tensor:
    with torch.no_grad():
        return score(rows).nan_to_num(nan=-torch.inf, neginf=-torch.inf)


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


def _starts(rows: Tensor, scores: Tensor) -> Tensor:
    """The best rows that are apart from each other, the best first."""
    left, indices = scores.argsort(descending=True, stable=True), list[int]()
    while len(left) and len(indices) < CLIMBS:
        indices.append(int(left[0]))
        left = left[(rows[left] - rows[indices[-1]]).abs().amax(-1) > APART]
    return rows[indices]


def _relax_steps(
    score: Score, gradient: ScoreWithGradient, region: Region, rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows from climbs on which numbers that have steps are searched as if any would do, where that leads higher."""
    numeric = [i for i in region.free if not isinstance(region.space.parameters[i][1], Choice | Ordinal)]
    if numeric == region.continuous or region.shape.num_slacks:
        return rows, values
    tops, _ = _climb_within_bounds(gradient, region, rows, numeric)
    higher = _values(score, tops)
    is_up = higher > values
    return torch.where(is_up[:, None], tops, rows), torch.where(is_up, higher, values)


def _climb(
    score: Score, gradient: ScoreWithGradient, region: Region, rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows from climbs along all continuous parameters, and the scores there."""
    if not region.continuous:
        return rows, values
    if not region.shape.num_slacks:
        return _climb_within_bounds(gradient, region, rows, region.continuous)
    begins = zip(rows[:CONSTRAINED], values[:CONSTRAINED].tolist(), strict=True)
    tops, reached = zip(*(maximize_by_slsqp(score, gradient, region, row, value) for row, value in begins), strict=True)
    rest = slice(CONSTRAINED, None)
    return torch.cat([torch.stack(tops), rows[rest]]), torch.cat([values.new_tensor(reached), values[rest]])


def _levels_to_try(region: Region, column: int, best: Tensor) -> list[int]:
    """The numbers of a parameter's values that are tried from everywhere: of few without an order all of them.

    Of many it is those measured at the best points. Those never measured are much alike to a model: others are reached
    by steps.
    """
    parameter = region.space.parameters[column][1]
    if not isinstance(parameter, Choice):
        return []
    if len(parameter.values) <= ONE_HOT:
        return [*range(len(parameter.values))]
    return [*dict.fromkeys(cell_numbers(parameter, best[:, column]).tolist())][:MEASURED]


def _climb_discrete(
    score: Score, region: Region, tried: Mapping[int, Sequence[int]], rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows and scores where one discrete parameter changes after the other, the one that gains most."""
    rows, values = rows.clone(), values.clone()
    going = torch.arange(len(rows))
    while len(going):
        near = [_neighbors(region, tried, row) for row in rows[going]]
        counts = [len(neighbors) for neighbors in near]
        scores = _values(score, torch.cat(near)) if sum(counts) else rows.new_zeros(0)
        still = []
        for i, neighbors, row_scores in zip(going.tolist(), near, scores.split(counts), strict=True):
            if len(neighbors) and row_scores.max() > values[i] + GAIN:
                best = first_of_best(row_scores)
                rows[i], values[i] = neighbors[best], row_scores[best]
                still.append(i)
        going = torch.tensor(still, dtype=torch.long)
    return rows, values


def _neighbors(region: Region, tried: Mapping[int, Sequence[int]], row: Tensor) -> Tensor:
    """The points of a region that differ from one in a discrete parameter, and in what follows from that."""
    neighbors = []
    for column, numbers in tried.items():
        levels = _neighbor_levels(region.space.parameters[column][1], row[column], numbers)
        changed = row.expand(len(levels), -1).clone()
        changed[:, column] = levels
        neighbors.append(changed)
    rows = region.complete(torch.cat(neighbors))
    return region.canonical(rows[region.holds(rows)])


def _neighbor_levels(parameter: Parameter, u: Tensor, tried: Sequence[int]) -> Tensor:
    """Coordinates of a parameter's other values: those tried, and those 1, 2, 4, 8 ... places away.

    Where there is no order the last is followed by the first. From one to the next of these every value is reached.
    """
    count, place = parameter.count or 1, int(cell_numbers(parameter, u))
    away = [place + sign * 2**k for k in range(count.bit_length()) for sign in (-1, 1)]
    if isinstance(parameter, Choice):
        places = {number % count for number in away} | {*tried}
    else:
        places = {*away} & {*range(count)}
    return cell_middles(parameter, torch.tensor(sorted(places - {place}), dtype=torch.long))


def _climb_within_bounds(
    gradient: ScoreWithGradient, region: Region, rows: Tensor, columns: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Rows from climbs along some parameters, and the scores there before they are put into one form."""
    is_moved = np.isin(np.arange(rows.shape[1]), columns)

    def both(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = (part.numpy() for part in gradient(torch.from_numpy(x)))
        return values, np.where(is_moved & np.isfinite(slopes), slopes, 0.0)

    tops, values = maximize_by_bfgs(both, rows.numpy(), STEPS, ENOUGH)
    return region.canonical(torch.from_numpy(tops)), torch.from_numpy(values)


def _polish(gradient: ScoreWithGradient, region: Region, row: Tensor) -> Tensor:
    """The maximum near a row along all continuous parameters."""

    def gradients(x: np.ndarray) -> np.ndarray:
        return gradient(torch.from_numpy(x))[1].numpy()

    return region.canonical(torch.from_numpy(polish(gradients, row.numpy(), region.continuous))[None])[0]


def _differentiate(score: Score, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and their gradients by automatic differentiation."""
    with torch.enable_grad():
        at = rows.clone().requires_grad_()
        values = score(at)
        (slopes,) = torch.autograd.grad(values.sum(), at)
    return values.detach(), slopes
