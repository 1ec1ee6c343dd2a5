"""Replicates of trials with several outcomes: one replicate measures all of them.

As with one outcome (`candidates.replicate`), except for the unit: knowing the values of a point is worth as much as the
hypervolume that it may turn out to add, and it is held against the hypervolume that a new point promises.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.belief.outcome_models import OutcomeModels
from robustbo.loop.best.measured_points import (
    MeasuredPoints,
    larger_is_better,
    probability_feasible,
    probability_within,
)
from robustbo.loop.candidates.replicate import DoubtfulPoint, doubtful_points
from robustbo.loop.observations.table import Data, Row
from robustbo.numerics.improvement.front import Room, gain, room, worth_of_constraint, worth_of_objective
from robustbo.trials.trial import Trial


def replicate_by_hypervolume(
    data: Data, points: MeasuredPoints, reference: Tensor, new: Row, *, max_replicates: int, is_any: bool = False
) -> Trial | None:
    """The trial that gets a replicate in place of a new point, if any.

    It is that of which it is worth most to know the values, where one is disbelieved (or any), if that is more than a
    new point promises.

    Args:
        data: All trials.
        points: The points measured whose values are believed, and the model of each outcome.
        reference: The reference point, turned so that larger is better.
        new: The unit-cube row of the new point.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    doubtful: dict[Row, dict[int, DoubtfulPoint]] = {}
    for m, model in enumerate(points.models):
        for point in doubtful_points(
            model.data, model.fitted, model.belief, max_replicates=max_replicates, is_any=is_any
        ):
            doubtful.setdefault(data.rows[point.trial.number], {})[m] = point
    if not doubtful:
        return None
    worths = {row: _worth(points, reference, row, by_outcome) for row, by_outcome in doubtful.items()}
    best = max(worths, key=worths.__getitem__)
    first = min(point.trial.number for point in doubtful[best].values())
    return data.trials[first] if worths[best] > expected_hypervolume(points, reference, new) else None


class _Prediction(NamedTuple):
    """The predictions at a point: ``1 x M`` means and standard deviations in the user's units."""

    mean: Tensor
    sd: Tensor


def _predict(models: OutcomeModels, row: Row) -> _Prediction:
    predictions = [model.fitted.predict(model.fitted.encoded([row]), is_averaged=False) for model in models]
    mean, sd = (torch.tensor([pair[i] for pair in predictions], dtype=torch.float64).T for i in (0, 1))
    return _Prediction(mean, sd)


def _room(points: MeasuredPoints, reference: Tensor, but: Row | None = None) -> Room:
    """The room that the believed front leaves for gains; with one objective that is what is above the best."""
    rows = [tuple(points.models[0].data.rows[trial.number]) for trial in points.trials]
    is_in = points.is_likely & torch.tensor([row != but for row in rows], dtype=torch.bool)
    return room(points.objectives[is_in], reference)


def expected_hypervolume(points: MeasuredPoints, reference: Tensor, new: Row) -> float:
    """The hypervolume that a new point is expected to add, apart from the doubts."""
    prediction = _predict(points.models, new)
    sd = larger_is_better(points.models, prediction.sd).abs()
    added = gain(_room(points, reference), larger_is_better(points.models, prediction.mean), sd)
    return (added * probability_feasible(points.models, *prediction)).item()


def _worth(points: MeasuredPoints, reference: Tensor, row: Row, doubtful: Mapping[int, DoubtfulPoint]) -> float:
    """The worth of knowing the values of a point; those of several outcomes, which are by their indices, add up."""
    models = points.models
    prediction, to = _predict(models, row), _room(points, reference, row)
    Y = larger_is_better(models, prediction.mean)
    objectives = [m for m, model in enumerate(models) if model.outcome.is_objective]
    total = 0.0
    for m, point in doubtful.items():
        outcome = models[m].outcome
        y, w = torch.tensor([[point.values], [point.shares]], dtype=torch.float64)
        mu, sd = torch.tensor([[point.expected], [point.sd]], dtype=torch.float64)
        if m in objectives:
            sign, k = outcome.sign, objectives.index(m)
            if_feasible = worth_of_objective(to, Y, k, sign * y, w, sign * mu, sd, is_believed=point.is_believed)
            worth = if_feasible * probability_feasible(models, *prediction)
        else:
            is_within = torch.tensor([outcome.keeps(value) for value in point.values], dtype=torch.float64)
            p = (w * is_within).sum(-1) + (1 - w.sum(-1)).clamp_min(0) * probability_within(outcome, mu, sd)
            worth = worth_of_constraint(
                gain(to, Y, torch.zeros_like(Y)) * probability_feasible(models, *prediction, without=m), p
            )
        total += worth.nan_to_num(0.0).item()
    return total
