"""Points that nobody measures yet: no two of a batch, and no pending ones, are the same.

A point is taken while a trial there is open, and for ever where the user says that it fails by itself. Where what
maximizes the acquisition function is taken, the best of other points is asked for in its place. The first,
space-filling points are kept apart from everything that was ever asked. Once each point of a finite space has been
asked for there is nothing new: points are asked for again then, with a reason that says so, and none at all while every
one is taken.
"""

from collections.abc import Collection

from robustbo import seeds
from robustbo.errors import SpaceExhausted
from robustbo.loop.observations.table import Data
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.trials.tree import Trials
from robustbo.trials.trial import Point, point_of

Params = dict[str, Value]

NOTHING_NEW = "nothing new left"  # the reason of a trial in a finite space that has been asked for as a whole
AGAIN = "asked before"  # the reason of a trial at a point that the model wants another value of
NEAR = 1e-6  # of the unit interval, in every parameter: two open points are the same
COUNTED = 2048  # points of a finite space that are all looked at
TRIED = 1024  # points of any other


def is_exhausted(region: Region, trials: Trials) -> bool:
    """Whether every point of a finite region has been asked for."""
    if region.size is None or len(trials) < region.size:
        return False
    points = trials.by_point
    if len(points) < region.size or not region.is_restricted:
        return len(points) >= region.size
    return sum(region.contains({name: value for name, _, value in point}) for point in points) >= region.size


def is_taken(data: Data, params: Params) -> bool:
    """Whether a pending trial is at a point, or too near to tell, or the user has barred it."""
    here = data.space.to_unit(params)
    rows = (data.rows[trial.number] for trial in (*data.pending, *data.barred))
    return any(max(abs(a - b) for a, b in zip(here, row, strict=True)) <= NEAR for row in rows)


def first_point(data: Data, seed: int, trial: int) -> Params:
    """The scrambled Sobol point of a trial's number, or another where that has been asked for already.

    Raises:
        SpaceExhausted: If every point is being measured.
    """
    (point,) = sobol_points(data.region, seeds.derive(seed, 0, "sobol"), trial, 1)
    asked: Collection[Point] = data.trials.by_point
    taken = _taken(data) if is_exhausted(data.region, data.trials) else asked
    if point_of(point) not in taken:
        return point
    again = seeds.derive(seed, trial, "sobol again")
    try:
        others = free_points(data.region, taken, again)
    except SpaceExhausted:  # of points that cannot be counted, as where constraints leave but few
        others = free_points(data.region, _taken(data), again)
    return others[seeds.derive(seed, trial, "which") % len(others)]


def _taken(data: Data) -> set[Point]:
    """The points of pending trials, and of those that the user has barred."""
    return {trial.point for trial in (*data.pending, *data.barred)}


def free_points(region: Region, taken: Collection[Point], seed: int) -> list[Params]:
    """Points that are not taken: all of a small finite space, some of any other, at least one.

    Args:
        region: Where they may be.
        taken: The values at each point that is.
        seed: Of which are looked at.

    Raises:
        SpaceExhausted: If all are taken.
    """
    if region.all_points is not None:
        points = region.all_points
    elif region.size is not None and region.size <= COUNTED:
        points = [region.at(i) for i in range(region.size)]
    else:
        points = sobol_points(region, seed, 0, TRIED)
    found = [point for point in points if point_of(point) not in taken]
    if not found and region.size is not None:
        points = [region.at(i) for i in range(min(region.size, len(taken) + 1))]
        found = [point for point in points if point_of(point) not in taken]
    if not found:
        raise SpaceExhausted(
            "a point that nobody measures must be left to be asked for: all "
            f"{region.size or 'that were found'} of the space are pending; tell, fail or requeue some first "
            "(those that failed and are not to be retried are given out no more)"
        )
    return found
