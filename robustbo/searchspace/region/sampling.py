"""Points of a region, spread over it: Sobol points that belong to it, or walks inside it where these are too few.

A walk goes from a point in a random direction, anywhere on the segment that lies in the cube; where that is outside the
region the segment is cut there and drawn from again. It leaves the uniform distribution on the region as it is.

References:
    Smith (1984), Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions;
    Neal (2003), Slice sampling (the cut segment).
"""

from functools import lru_cache

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.searchspace.columns import cell, is_continuous
from robustbo.searchspace.parameters import Choice, Value
from robustbo.searchspace.region.region import Region

BLOCK = 2048  # Sobol points that are looked at together
MOST_DRAWN = 2**16
SPREAD = 1024  # points that the others are chosen from where Sobol points are too few
CHAINS, STEPS = 128, 64  # walks, and steps before the first point of each is taken
CUTS = 30  # of a segment
NEAREST = 16  # Sobol points from which a region is searched for where none belongs to it
MARGINS = (1e-2, 1e-4, 1e-6, 0.0)  # of a constraint's size, inside


def sobol_points(region: Region, seed: int, index: int, count: int) -> list[dict[str, Value]]:
    """The ``count`` points from number ``index`` on, of the scrambled Sobol points that belong to a region.

    Where fewer than one in some hundreds does, others take their place: points of walks, each the farthest from all
    before it.

    Raises:
        SpaceError: If no point of the region is found.
    """
    if not region.is_restricted:
        return region.space.sobol_points(seed, index, count)
    if region.space.is_pool:
        return _nearest(region, region.space.sobol_rows(seed, index, count))
    rows = _sequence(region, seed, 1 << max(4, (index + count - 1).bit_length()))
    points = [point for row in rows if (point := region.point(row)) is not None]
    while len(points) < index + count:  # some at the very edge are lost to rounding, and some regions have few points
        points += points or _none(region, 1)
    return points[index : index + count]


def _nearest(region: Region, rows: np.ndarray) -> list[dict[str, Value]]:
    """The listed points nearest to some rows, where words are as far from each other as the ends of a range."""
    assert region.listed is not None
    there, near = region.rows, torch.as_tensor(rows)
    far = torch.zeros(len(near), len(there), dtype=torch.float64)
    for column, (_, parameter) in enumerate(region.space.parameters):
        a, b = near[:, column, None], there[:, column]
        same = cell(parameter, a) == cell(parameter, b) if isinstance(parameter, Choice) else None
        far += (a - b).square() if same is None else (~same).double()
    return [region.listed[int(i)] for i in far.argmin(-1)]


@lru_cache(maxsize=32)
def _sequence(region: Region, seed: int, count: int) -> list[list[float]]:
    """At least so many rows, as a rule."""
    found: list[Tensor] = []
    for drawn in range(0, MOST_DRAWN, BLOCK):
        U = region.complete(torch.as_tensor(region.space.sobol_rows(seed, drawn, BLOCK)))
        found.append(U[region.holds(U)])
        total = sum(map(len, found))
        if total >= count:
            break
        if drawn + BLOCK >= MOST_DRAWN // 4 and total * 4 < count:  # at this rate it would never be enough
            break
    rows = torch.cat(found)
    if len(rows) < count:
        rows = torch.cat([rows, _spread(spread_over(region), rows, min(count, SPREAD) - len(rows))])
    return rows.tolist()


def _spread(rows: Tensor, before: Tensor, count: int) -> Tensor:
    """Some of these rows, each the farthest from those before it."""
    chosen: list[int] = []
    far = torch.cdist(rows, before).amin(-1) if len(before) else torch.full((len(rows),), torch.inf)
    for _ in range(count):
        chosen.append(int(far.argmax()))
        far = torch.minimum(far, (rows - rows[chosen[-1]]).norm(dim=-1))
    return rows[chosen]


@lru_cache(maxsize=32)
def spread_over(region: Region, count: int = SPREAD) -> Tensor:
    """``count x d`` rows spread over a region, always the same ones; those of a finite one may recur.

    Raises:
        SpaceError: If no point of it is found.
    """
    U = region.complete(torch.as_tensor(region.space.sobol_rows(0, 0, 2 * BLOCK)))
    inside = U[region.holds(U)]
    if len(inside) >= count:
        return region.canonical(inside[:count])
    if not len(inside):
        inside = _search(region, U)
    walked = _walk(region, inside, count - len(inside), seeds.generator(0, 0, "walks"))
    return region.canonical(torch.cat([inside, walked]))


def _walk(region: Region, starts: Tensor, count: int, generator: np.random.Generator) -> Tensor:
    """``count`` rows by walks from some of a region's."""
    x = starts[generator.integers(len(starts), size=CHAINS)]
    if not region.free:
        return x[:1].expand(count, -1)
    kept, rounds = [], STEPS + -(-count // CHAINS)
    for step in range(rounds):
        x = _step(region, x, generator)
        if step >= STEPS:
            kept.append(x)
    return torch.cat(kept)[:count]


def _step(region: Region, x: Tensor, generator: np.random.Generator) -> Tensor:
    free, k = region.free, len(x)
    direction = torch.zeros_like(x)
    drawn = generator.standard_normal((k, len(free)))
    alone = generator.integers(len(free), size=k)[:, None] == np.arange(len(free))
    is_alone = generator.random((k, 1)) < 0.5  # along one axis
    direction[:, free] = torch.as_tensor(np.where(is_alone, alone * 1.0, drawn))
    ends = torch.stack([-x / direction, (1 - x) / direction])[..., free].nan_to_num(torch.inf)
    ends = torch.where(direction[:, free] == 0, torch.inf, ends)
    low = -torch.where(ends < 0, -ends, torch.inf).amin((0, -1))
    high = torch.where(ends > 0, ends, torch.inf).amin((0, -1))
    low, high = (torch.where(each.isfinite(), each, 0.0) for each in (low, high))
    made, is_open = x.clone(), torch.ones(k, dtype=torch.bool)
    for _ in range(CUTS):
        t = low + torch.as_tensor(generator.random(k)) * (high - low)
        there = region.complete((x + t[:, None] * direction).clamp(0.0, 1.0))
        is_in = region.holds(there) & is_open
        made[is_in] = there[is_in]
        is_open &= ~is_in
        if not is_open.any():
            break
        low, high = torch.where(t < 0, t, low), torch.where(t >= 0, t, high)
    return made


def _search(region: Region, U: Tensor) -> Tensor:
    """Rows of a region that none of these belongs to: those that break it least, mended.

    Raises:
        SpaceError: If that fails.
    """
    nearest = U[_violation(region, U, 0.0).nan_to_num(torch.inf).argsort(stable=True)[:NEAREST]]
    for margin in MARGINS:
        made = torch.stack([_mended(region, row, margin) for row in nearest])
        inside = made[region.holds(made)]
        if len(inside):
            return inside
    share = [(float(region.keeping(U, text).double().mean()), text) for text in region.space.texts]
    return _none(region, len(U), min(share)[1])


def _none(region: Region, tried: int, hardest: str = "") -> Tensor:
    fixed = f" with {dict(region.fixed)!r}" if region.fixed else ""
    which = f"; {hardest!r} is kept least often" if hardest else ""
    raise SpaceError(
        f"no point{fixed} was found that keeps {' and '.join(map(repr, region.space.texts))}, of {tried} tried and "
        f"searched from{which}"
    )


def _violation(region: Region, U: Tensor, margin: float) -> Tensor:
    """By how much rows break a region: the sum of squares."""
    return (margin - region.slack(U)).clamp_min(0.0).square().sum(-1)


def _mended(region: Region, row: Tensor, margin: float) -> Tensor:
    """A row changed until it breaks a region less, or not at all: one column after another, and all continuous ones."""
    for _ in range(4):
        row = _descended(region, row, margin)
        if _violation(region, row, margin) == 0:
            break
        for column in region.free:
            if not is_continuous(region.space.parameters[column][1]):
                levels = torch.tensor(region.space.parameters[column][1].levels, dtype=row.dtype)
                others = row.expand(len(levels), -1).clone()
                others[:, column] = levels
                others = region.complete(others)
                row = others[_violation(region, others, margin).nan_to_num(torch.inf).argmin()]
    return row


def _descended(region: Region, row: Tensor, margin: float) -> Tensor:
    columns = region.continuous
    if not columns:
        return row

    def at(x: np.ndarray) -> tuple[float, np.ndarray]:
        free = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        loss = _violation(region, region.complete(row.index_put((torch.tensor(columns),), free)), margin)
        (slope,) = torch.autograd.grad(loss, free, allow_unused=True)
        return loss.item(), np.zeros(len(x)) if slope is None else slope.nan_to_num().numpy()

    with torch.enable_grad():
        found = minimize(at, row[columns].numpy(), jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(columns))
    return region.complete(row.index_put((torch.tensor(columns),), torch.as_tensor(found.x)))
