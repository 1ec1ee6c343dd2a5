"""The measured points that are nearest to a point, each parameter by its range."""

from __future__ import annotations

import math

from robustbo.trials.history import Trial
from robustbo.view.points import PointView


def nearest_measured(view: PointView, trial: Trial, count: int) -> list[Trial]:
    """The trials with a value whose points are nearest to that of a trial, the nearest first.

    Args:
        view: The optimization.
        trial: The trial, which is not among them.
        count: The number of trials, at most.
    """
    space = view.space
    place = space.to_unit(trial.target_params)
    candidates = [other for other in view.history.having("told") if other.number != trial.number]
    return sorted(candidates, key=lambda other: math.dist(place, space.to_unit(other.params)))[:count]
