"""Walks inside a region, where Sobol points that belong to it are too few.

A walk goes from a point in a random direction, anywhere on the segment that lies in the cube; where that is outside the
region the segment is cut there and drawn from again. It leaves the uniform distribution on the region as it is.

References:
    Smith (1984), Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions;
    Neal (2003), Slice sampling (the cut segment).
"""

import numpy as np

from robustbo.searchspace.constraints.batch import Array
from robustbo.searchspace.region.region import Region

CHAINS, STEPS = 128, 64  # walks, and steps before the first point of each is taken
CUTS = 30  # of a segment


def walk(region: Region, starts: Array, count: int, generator: np.random.Generator) -> Array:
    """``count`` rows by walks from some of a region's."""
    x = starts[generator.integers(len(starts), size=CHAINS)]
    if not region.free:
        return np.repeat(x[:1], count, axis=0)
    points, rounds = [], STEPS + -(-count // CHAINS)
    for number in range(rounds):
        x = step(region, x, generator)
        if number >= STEPS:
            points.append(x)
    return np.concatenate(points)[:count]


def step(region: Region, x: Array, generator: np.random.Generator) -> Array:
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
