"""The initial design: space-filling points, which keep away from where trials fail once some have failed."""

from collections.abc import Collection

from robustbo import seeds
from robustbo.errors import SpaceExhausted
from robustbo.loop.candidates.pending import Params, free_points, is_exhausted, unavailable_points
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.table import Data
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.trials.identity import Point, point_of

AWAY = "away from failures"  # the reason of a trial whose Sobol point would probably fail
LEAST = 2  # values, without which no model proposes anything
LOOKED_AT = 256  # points beyond the trial's own
FAIR = 0.5  # of the greatest probability of a value anywhere: a point with as much will do


def is_filled(data: Data, num_initial: int) -> bool:
    """Return whether enough is known to leave the initial design, some of whose trials have failed."""
    return len(data.own_trials) - len(data.withdrawn) >= num_initial and data.trials.num("told") >= LEAST


def sobol_point(data: Data, seed: int, trial: int) -> Params:
    """The scrambled Sobol point of a trial's number, or another where that has been asked for already.

    Raises:
        SpaceExhausted: If every point is being measured.
    """
    (point,) = sobol_points(data.region, seeds.derive(seed, 0, "sobol"), trial, 1)
    asked_points: Collection[Point] = data.trials.by_point
    barred = unavailable_points(data) if is_exhausted(data.region, data.trials) else asked_points
    if point_of(point) not in barred:
        return point
    again = seeds.derive(seed, trial, "sobol again")
    try:
        points = free_points(data.region, barred, again)
    except SpaceExhausted:  # of points that cannot be counted, as where constraints leave but few
        points = free_points(data.region, unavailable_points(data), again)
    return points[seeds.derive(seed, trial, "which") % len(points)]


def feasible_sobol_point(data: Data, feasibility: FeasibilityModel, seed: int, trial: int) -> tuple[Params, str | None]:
    """The first point of the Sobol sequence, of those not asked for yet, at which a value may well be had.

    Returns:
        The point, and the reason where it is not the one of the trial's number.

    Raises:
        SpaceExhausted: If every point is being measured.
    """
    first, asked_points = sobol_point(data, seed, trial), data.trials.by_point
    sequence = sobol_points(data.region, seeds.derive(seed, 0, "sobol"), 0, trial + LOOKED_AT)
    points = [point for point in sequence if point_of(point) not in asked_points] or [first]
    p = feasibility.log_p([tuple(data.space.to_unit(point)) for point in points]).exp()
    fair = points[int((p >= FAIR * p.max()).int().argmax())]
    return fair, None if fair == first else AWAY
