"""The points that may be recommended for what was measured: where the space allows it, there; else the nearest."""

from collections.abc import Iterable, Mapping

from robustbo.loop.observations.table import Data, Row
from robustbo.searchspace.parameters import Value
from robustbo.trials.trial import Trial

Moved = dict[Row, tuple[Trial, dict[str, Value]]]  # by the unit-cube row of the point


def recommendable_points(data: Data, trials: Mapping[Row, Trial]) -> tuple[dict[Row, Trial], Moved]:
    """The points measured that may be recommended as they are, and those that stand for points measured outside.

    A point outside the space stands for where it had been asked for, if that is allowed, or for the nearest point of
    the space.

    Args:
        data: All trials.
        trials: A trial at each point measured, by its unit-cube row.
    """
    allowed, moved = dict[Row, Trial](), Moved()
    for row, trial in trials.items():
        if data.space.allows(trial.params):
            allowed[row] = trial
        elif (point := _nearest(data, row, trial)) is not None:
            moved.setdefault(tuple(data.space.to_unit(point)), (trial, point))
    return allowed, {row: pair for row, pair in moved.items() if row not in allowed}


def _nearest(data: Data, row: Row, trial: Trial) -> dict[str, Value] | None:
    """The point that may be asked for in place of one measured outside; None where none is near."""
    if data.space.allows(trial.target_params):
        return trial.target_params
    if data.space.is_pool or data.space.why_outside(trial.params) is None:  # it only breaks a constraint
        return None
    return data.region.point(row)


def points_with_fixed(data: Data, trials: Iterable[Trial]) -> dict[Row, tuple[Trial, dict[str, Value]]]:
    """Points by row: each one measured as it is with what is fixed, with its trial, where it is in the region."""
    points: dict[Row, tuple[Trial, dict[str, Value]]] = {}
    for trial in trials:
        if data.space.is_pool:
            point = trial.params if data.region.contains(trial.params) else None
        else:
            point = data.region.point(data.rows[trial.number])
        if point is not None:
            points.setdefault(tuple(data.space.to_unit(point)), (trial, point))
    return points
