"""Replicates: a point gets one where knowing its value is worth more than a new point promises, in the same units.

In optimization the best new point looks like an outlier, and an outlier like the best new point. One more measurement
at that very point settles it, since sparse corruptions do not strike twice by chance. It costs what a new point costs,
so the two are compared: the value of knowing (`numerics.improvement.value_of_information`) and the expected
improvement of the new point.

A value that is far too good is never quarantined, so that the fit may adapt to it and doubt it no more. The model that
asked for it had not seen it: what is beyond all that this one expected is replicated as if it were flagged.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.belief.judge import Outlier, OutlierReports
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.groups import PointGroup
from robustbo.loop.observations.probability_wrong import CorruptionModel
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.gp.wrong_density import NEEDLE
from robustbo.numerics.improvement.value_of_information import expected_improvement, shares, value_of_replicate
from robustbo.trials.trial import Trial


class DoubtfulPoint(NamedTuple):
    """A point measured whose value is not certain.

    Attributes:
        trial: The first told trial there.
        values: All told values.
        shares: The probability that the objective is each of them.
        expected: The expectation of it if it is none of them.
        sd: Standard deviation of that.
        is_believed: Whether a value is, so that the point may be recommended as it is.
    """

    trial: Trial
    values: tuple[float, ...]
    shares: tuple[float, ...]
    expected: float
    sd: float
    is_believed: bool


def may_come(data: Data) -> bool:
    """Return whether a replicate may come now: while one is pending there is no other."""
    return not any(t.repeats is not None for t in data.pending)


def doubtful_points(
    data: Data, fitted: FittedSurrogate, belief: OutlierReports, *, max_replicates: int, is_any: bool
) -> list[DoubtfulPoint]:
    """The points that may get a replicate and of which a value is disbelieved, or any points.

    Args:
        data: All trials.
        fitted: The surrogate fitted to them.
        belief: The belief in each value.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    reports = {report.trial.number: report for report in belief}
    corruption = CorruptionModel.of(data, fitted.prior_rate(len(data.told)))
    points, elsewhere = [], Counter(t.repeats for t in data.trials if t.target is not None)
    for group in data.groups.values():
        count = len(group.trials) + sum(elsewhere[t.number] for t in group.trials)
        if not group.told or group.is_closed or count > max_replicates:
            continue
        if not data.region.contains(group.told[0].params) or is_own_doubt(data, group.told):
            continue
        at_point = [reports[trial.number] for trial in group.told]
        if is_needle(data, corruption, group):
            points.append(_point(at_point, [1.0], group.expectation, is_believed=False))
        elif is_any or any(report.flagged for report in at_point):
            p, is_believed = [report.probability_wrong for report in at_point], not all(o.flagged for o in at_point)
            points.append(_point(at_point, p, group.expectation if len(p) > 1 else None, is_believed=is_believed))
    return points


def is_own_doubt(data: Data, told: Sequence[Trial]) -> bool:
    """Return whether the source that will measure has measured all values at a point, while others might.

    Another source tells an error of the first from the objective; the same one would only repeat it.
    """
    kinds = dict(data.by)
    if not kinds:
        return False

    def is_own(trial: Trial) -> bool:
        return all(trial.sources.get(kind) == label for kind, label in kinds.items())

    return all(map(is_own, told)) and not all(map(is_own, data.told))


def is_needle(data: Data, corruption: CorruptionModel, group: PointGroup) -> bool:
    """Return whether a point's only value is better by far than all that was expected as it was asked for.

    It is wrong or a needle, as nothing but another measurement tells, whatever a model believes that has adapted to it.
    """
    trial = group.told[0]
    if len(group.told) > 1 or not group.judged_together or group.expectation is None or trial.is_vouched:
        return False
    is_better = data.sign * (trial.measured - group.expectation.mean) > 0
    return is_better and corruption.probability_wrong([trial], group.expectation)[trial.number] > 1 - NEEDLE


def _point(
    reports: Sequence[Outlier], p: Sequence[float], expectation: Expectation | None, *, is_believed: bool
) -> DoubtfulPoint:
    """A point whose values are wrong with probabilities ``p``."""
    first, w = reports[0], shares(torch.tensor(p, dtype=torch.float64))
    expected, sd = (first.expected, first.sd) if expectation is None else expectation[:2]
    return DoubtfulPoint(first.trial, tuple(o.value for o in reports), tuple(w.tolist()), expected, sd, is_believed)


def replicate(
    data: Data, fitted: FittedSurrogate, belief: OutlierReports, new: Row, *, max_replicates: int, is_any: bool = False
) -> DoubtfulPoint | None:
    """The point that gets a replicate in place of a new one, if any: the one that it is worth most to know.

    Args:
        data: All trials.
        fitted: The surrogate fitted to them.
        belief: Its belief in each value.
        new: The unit-cube row of the new point.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    points = doubtful_points(data, fitted, belief, max_replicates=max_replicates, is_any=is_any)
    if not points:
        return None
    at_points = fitted.at_points(is_averaged=False) | {**belief.surprising}
    means = {row: data.sign * mean for row, (mean, _) in at_points.items()}
    worth = _worth(data, means, points)
    i = int(worth.argmax())
    return points[i] if worth[i] > _new_point_improvement(data, fitted, max(means.values()), new) else None


def _worth(data: Data, means: dict[Row, float], points: Sequence[DoubtfulPoint]) -> Tensor:
    """The value of knowing each of some points; posterior means are by unit-cube row, larger being better."""
    best, worths = sorted(means, key=means.__getitem__, reverse=True)[:2], []
    for point in points:
        row = data.rows[point.trial.number]
        other = max((means[another] for another in best if another != row), default=-math.inf)
        y, w = torch.tensor([point.values, point.shares], dtype=torch.float64)
        mu, sd, B = torch.tensor([data.sign * point.expected, point.sd, other], dtype=torch.float64)
        worths.append(value_of_replicate(data.sign * y, w, mu, sd, B, is_believed=point.is_believed))
    return torch.stack(worths).nan_to_num(0.0)  # NaN: nothing to compare it with


def _new_point_improvement(data: Data, fitted: FittedSurrogate, best: float, row: Row) -> float:
    """The expected improvement of a new point, apart from the doubts."""
    (mean,), (sd,) = fitted.predict(fitted.encoded([row]), is_averaged=False)
    improvement = torch.tensor([data.sign * mean, sd, best], dtype=torch.float64)
    return expected_improvement(*improvement).item()
