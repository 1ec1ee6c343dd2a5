"""Points of a region, spread over it: Sobol points that belong to it, or walks inside it where these are too few.

A walk goes from a point in a random direction, anywhere on the segment that lies in the cube; where that is outside the
region the segment is cut there and drawn from again. It leaves the uniform distribution on the region as it is.

References:
    Smith (1984), Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions;
    Neal (2003), Slice sampling (the cut segment).
"""

from functools import lru_cache
from itertools import islice

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.numerics.linalg.farthest import farthest_points
from robustbo.searchspace.columns import cell_numbers, is_continuous
from robustbo.searchspace.constraints.batch import Array
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
    points = _sequence(region, seed, 1 << max(4, (index + count - 1).bit_length()))
    if not points:
        raise _no_point_error(region, 1)
    # Some at the very edge are lost to rounding, and some regions have few points: these come again.
    return [dict(points[i % len(points)]) for i in range(index, index + count)]


def _nearest(region: Region, rows: np.ndarray) -> list[dict[str, Value]]:
    """The listed points nearest to some rows, where words are as far from each other as the ends of a range."""
    assert region.all_points is not None
    listed, near = region.rows, torch.as_tensor(rows)
    far = torch.zeros(len(near), len(listed), dtype=torch.float64)
    for column, (_, parameter) in enumerate(region.space.parameters):
        a, b = near[:, column, None], listed[:, column]
        same = cell_numbers(parameter, a) == cell_numbers(parameter, b) if isinstance(parameter, Choice) else None
        far += (a - b).square() if same is None else (~same).double()
    return [region.all_points[int(i)] for i in far.argmin(-1)]


@lru_cache(maxsize=32)
def _sequence(region: Region, seed: int, count: int) -> list[dict[str, Value]]:
    """The points of at least ``count`` rows, as a rule."""
    blocks: list[Tensor] = []
    for start in range(0, MOST_DRAWN, BLOCK):
        U = region.complete(torch.as_tensor(region.space.sobol_rows(seed, start, BLOCK)))
        blocks.append(U[region.holds(U)])
        total = sum(map(len, blocks))
        if total >= count:
            break
        if start + BLOCK >= MOST_DRAWN // 4 and total * 4 < count:  # at this rate it would never be enough
            break
    rows = torch.cat(blocks)
    if len(rows) < count:
        rows = torch.cat([rows, _spread(spread_over(region), rows, min(count, SPREAD) - len(rows))])
    return [point for point in region.points(rows.tolist()) if point is not None]


def _spread(rows: Tensor, before: Tensor, count: int) -> Tensor:
    """``count`` of these rows, each the farthest from those before it."""
    far_off = torch.full((len(rows),), torch.inf, dtype=torch.float64)
    distances = torch.cdist(rows, before).amin(-1) if len(before) else far_off
    order = farthest_points(rows, distances, lambda D: D.norm(dim=-1))
    return rows[[index for index, _ in islice(order, count)]]


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
    walked = _walk(region, inside.numpy(), count - len(inside), seeds.generator(0, 0, "walks"))
    return region.canonical(torch.cat([inside, torch.from_numpy(walked)]))


def _walk(region: Region, starts: Array, count: int, generator: np.random.Generator) -> Array:
    """``count`` rows by walks from some of a region's."""
    x = starts[generator.integers(len(starts), size=CHAINS)]
    if not region.free:
        return np.repeat(x[:1], count, axis=0)
    points, rounds = [], STEPS + -(-count // CHAINS)
    for step in range(rounds):
        x = _step(region, x, generator)
        if step >= STEPS:
            points.append(x)
    return np.concatenate(points)[:count]


def _step(region: Region, x: Array, generator: np.random.Generator) -> Array:
    """The next rows of walks at ``k x d`` rows."""
    direction = _directions(region, x, generator)
    low, high = _ends(x, direction)
    x, left = x.copy(), np.arange(len(x))
    for _ in range(CUTS):
        shares = generator.random(len(x))[left]
        t = low + shares * (high - low)
        candidates = region.shape.complete(np.clip(x[left] + t[:, None] * direction[left], 0.0, 1.0))
        is_in = region.shape.holds(candidates)
        x[left[is_in]] = candidates[is_in]
        low, high = np.where(t < 0, t, low)[~is_in], np.where(t >= 0, t, high)[~is_in]
        left = left[~is_in]
        if not len(left):
            break
    return x


def _directions(region: Region, x: Array, generator: np.random.Generator) -> Array:
    """A direction for each walk: along all that is free, or along one axis."""
    count, free = len(x), region.free
    normal = generator.standard_normal((count, len(free)))
    alone = generator.integers(len(free), size=count)[:, None] == np.arange(len(free))
    is_alone = generator.random((count, 1)) < 0.5
    direction = np.zeros_like(x)
    direction[:, free] = np.where(is_alone, alone * 1.0, normal)
    return direction


def _ends(x: Array, direction: Array) -> tuple[Array, Array]:
    """The multiples of the directions at which lines from some rows leave the cube, behind and ahead."""
    with np.errstate(all="ignore"):
        ends = np.stack([-x / direction, (1 - x) / direction])
    ends = np.where(np.isfinite(ends), ends, 0.0)  # along no direction
    low = -np.where(ends < 0, -ends, np.inf).min((0, -1))
    high = np.where(ends > 0, ends, np.inf).min((0, -1))
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)


def _search(region: Region, U: Tensor) -> Tensor:
    """Rows of a region that none of these belongs to: those that break it least, mended.

    Raises:
        SpaceError: If that fails.
    """
    nearest = U.numpy()[_violation(region, U.numpy(), 0.0).argsort(stable=True)[:NEAREST]]
    for margin in MARGINS:
        mended = np.stack([_mend(region, row, margin) for row in nearest])
        inside = mended[region.shape.holds(mended)]
        if len(inside):
            return torch.from_numpy(inside)
    share = [(float(region.keeps_constraint(U, text).double().mean()), text) for text in region.space.texts]
    raise _no_point_error(region, len(U), min(share)[1])


def _no_point_error(region: Region, tried: int, hardest: str = "") -> SpaceError:
    """The error for a region of which no point is known."""
    fixed = f" with {dict(region.fixed)!r}" if region.fixed else ""
    advice = f"; {hardest!r} is kept least often" if hardest else ""
    return SpaceError(
        f"no point{fixed} was found that keeps {' and '.join(map(repr, region.space.texts))}, of {tried} tried and "
        f"searched from{advice}"
    )


def _violation(region: Region, U: Array, margin: float) -> Array:
    """The sum of squares by which ``n`` rows break a region."""
    return np.asarray(np.square(np.maximum(margin - region.shape.slack(U), 0.0)).sum(-1))


def _mend(region: Region, row: Array, margin: float) -> Array:
    """A row changed until it breaks a region less, or not at all: one column after another, and all continuous ones."""
    for _ in range(4):
        row = _descend(region, row, margin)
        if _violation(region, row[None], margin)[0] == 0:
            break
        for column in region.free:
            if not is_continuous(region.space.parameters[column][1]):
                levels = region.space.parameters[column][1].levels or []
                rows = np.repeat(row[None], len(levels), axis=0)
                rows[:, column] = levels
                rows = region.shape.complete(rows)
                row = rows[_violation(region, rows, margin).argmin()]
    return row


def _descend(region: Region, row: Array, margin: float) -> Array:
    """A row that breaks a region least, of those to which descents along continuous columns lead."""
    columns, shape = region.continuous, region.shape
    if not columns:
        return row

    def at(x: Array) -> tuple[float, Array]:
        u = shape.place(row, x)
        short = np.maximum(margin - shape.slack(u[None])[0], 0.0)
        return float(short @ short), -2.0 * short @ shape.slopes(u)

    optimum = minimize(at, row[columns], jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(columns))
    return shape.place(row, optimum.x)
