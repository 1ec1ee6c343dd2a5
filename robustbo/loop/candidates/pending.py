"""Points that are not pending: no two of a batch, and no pending ones, are the same.

A point is taken while a trial there is open, and for ever where the user says that it fails by itself, or withdraws it.
Where what maximizes the acquisition function is taken, the best of other points is asked for in its place. The first,
space-filling points are kept apart from everything that was ever asked. Once each point of a finite space has been
asked for there is nothing new: points are asked for again then, with a reason that says so, and none at all while every
one is taken.
"""

from collections.abc import Collection

from robustbo.errors import SpaceExhausted
from robustbo.loop.observations.table import Data
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.trials.identity import Point, point_of
from robustbo.trials.tree import Trials

Params = dict[str, Value]

NOTHING_NEW = "nothing new left"  # the reason of a trial in a finite space that has been asked for as a whole
AGAIN = "asked before"  # the reason of a trial at a point that the model wants another value of
NEAR = 1e-6  # of the unit interval, in every parameter: two open points are the same
COUNTED = 2048  # points of a finite space that are all looked at
TRIED = 1024  # points of any other


def is_exhausted(region: Region, trials: Trials) -> bool:
    """Return whether every point of a finite region has been asked for."""
    if region.size is None or len(trials) < region.size:
        return False
    points = trials.by_point
    if len(points) < region.size:
        return False
    return sum(region.contains({name: value for name, _, value in point}) for point in points) >= region.size


def is_taken(data: Data, params: Params) -> bool:
    """Return whether a pending trial is at a point, or too near to tell, or the user has barred it."""
    coordinates = data.space.to_unit(params)
    rows = (data.rows[trial.number] for trial in (*data.pending, *data.barred))
    return any(max(abs(a - b) for a, b in zip(coordinates, row, strict=True)) <= NEAR for row in rows)


def unavailable_points(data: Data) -> set[Point]:
    """The points of pending trials, and of those that the user has barred."""
    return {trial.point for trial in (*data.pending, *data.barred)}


def has_free_point(data: Data) -> bool:
    """Return whether a point is left that may be asked for."""
    if data.region.size is None:
        return True
    try:
        free_points(data.region, unavailable_points(data), 0)
    except SpaceExhausted:
        return False
    return True


def free_points(region: Region, unavailable: Collection[Point], seed: int) -> list[Params]:
    """Points that are available: all of a small finite space, some of any other, at least one.

    Args:
        region: Where they may be.
        unavailable: The points that may not be asked for.
        seed: The seed of the points that are looked at.

    Raises:
        SpaceExhausted: If there is none.
    """
    if region.all_points is not None:
        points = region.all_points
    elif region.size is not None and region.size <= COUNTED:
        points = [region.at(i) for i in range(region.size)]
    else:
        points = sobol_points(region, seed, 0, TRIED)
    free = [point for point in points if point_of(point) not in unavailable]
    if not free and region.size is not None:
        points = [region.at(i) for i in range(min(region.size, len(unavailable) + 1))]
        free = [point for point in points if point_of(point) not in unavailable]
    if not free:
        raise SpaceExhausted(
            "at least one point must not be pending: all "
            f"{region.size or 'that were found'} of the space are pending; tell, fail or requeue some first "
            "(the optimizer does not ask again for points that failed for good or were withdrawn)"
        )
    return free
