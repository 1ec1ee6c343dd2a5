"""Points of a region, spread over it: Sobol points that belong to it, or walks inside it where these are too few."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.numerics.linalg.farthest import farthest_points
from robustbo.searchspace.columns import cell_numbers
from robustbo.searchspace.constraints.emptiness import proof_of_emptiness
from robustbo.searchspace.parameters import Choice, Value
from robustbo.searchspace.region.faces import UnionOfFaces
from robustbo.searchspace.region.mending import hardest, no_point_error, search
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.walks import walk

BLOCK = 2048  # Sobol points that are looked at together
MOST_DRAWN = 2**16
SPREAD = 1024  # points that the others are chosen from where Sobol points are too few
FACES, FACES_TRIED = 16, 256  # of a region with groups, that are looked at where points drawn in all are too few


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
        raise no_point_error(region, 1)
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
        U = region.complete(region.sobol_rows(seed, start, BLOCK))
        blocks.append(_different(region, U[region.holds(U)], blocks))
        total = sum(map(len, blocks))
        if total >= count:
            break
        if start + BLOCK >= MOST_DRAWN // 4 and total * 4 < count:  # at this rate it would never be enough
            break
    rows = torch.cat(blocks)
    if len(rows) < count:
        rows = torch.cat([rows, _spread(spread_over(region), rows, min(count, SPREAD) - len(rows))])
    rows = rows[: 2 * count] if isinstance(region, UnionOfFaces) else rows
    return [point for point in region.points(rows.tolist()) if point is not None]


def _different(region: Region, rows: Tensor, before: Sequence[Tensor]) -> Tensor:
    """The rows of a union of faces that are at no point of one before them: the face of none on is one point."""
    if not isinstance(region, UnionOfFaces):
        return rows
    earlier = {tuple(row) for block in before for row in region.canonical(block).tolist()}
    keys = dict.fromkeys(map(tuple, region.canonical(rows).tolist()))
    return torch.tensor([key for key in keys if key not in earlier], dtype=rows.dtype).reshape(-1, rows.shape[1])


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
    U = region.complete(region.sobol_rows(0, 0, 2 * BLOCK))
    inside = U[region.holds(U)]
    if len(inside) >= count:
        return region.canonical(inside[:count])
    if isinstance(region, UnionOfFaces):
        inside = torch.cat([inside, *_over_faces(region, count - len(inside))])
        if not len(inside):
            raise no_point_error(region, len(U), hardest(region, U))
        return region.canonical(inside)
    if not len(inside):
        inside = search(region, U)
    walked = walk(region, inside.numpy(), count - len(inside), seeds.generator(0, 0, "walks"))
    return region.canonical(torch.cat([inside, torch.from_numpy(walked)]))


def _over_faces(region: UnionOfFaces, count: int) -> list[Tensor]:
    """``count`` rows in as many faces as are looked for, none if no point of any is found."""
    parts = list[Tensor]()
    faces = dict.fromkeys(map(region.face_at, region.sobol_rows(1, 0, FACES_TRIED)))
    for face in (face for face in faces if face is not region and not _is_empty(face)):
        try:
            parts.append(spread_over(face, -(-count // FACES)))
        except SpaceError:
            continue
        if len(parts) == FACES:
            break
    return parts and [torch.cat(parts).repeat(-(-FACES // len(parts)), 1)[:count]]


def _is_empty(face: Region) -> bool:
    """Return whether it can be proved that no point of a face keeps the constraints."""
    intervals = {name: p.interval for name, p in face.space.parameters if p.interval is not None and not p.condition}
    points = {name: (float(value),) * 2 for name, value in face.fixed if isinstance(value, int | float)}
    return proof_of_emptiness(face.space.constraints, {**intervals, **points}) is not None
