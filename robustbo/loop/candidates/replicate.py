"""Whether a point gets a replicate: where knowing its value is worth more than a new point promises, in the same units.

In optimization the best new point looks like an outlier, and an outlier like the best new point. One more measurement
at that very point settles it, since sparse corruptions do not strike twice by chance. It costs what a new point costs,
so the two are compared: the value of knowing (`numerics.improvement.value_of_information`) and the expected
improvement of the new point.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.belief.judge import Belief, Outlier
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.value_of_information import expected_improvement, shares, value_of_replicate
from robustbo.trials.trial import Trial


class Doubtful(NamedTuple):
    """A point measured, of which it is not certain what its value is.

    Attributes:
        trial: The first told trial there.
        values: All told values.
        shares: The probability that the objective is each of them.
        expected: What it is expected to be if it is none.
        sd: Standard deviation of that.
    """

    trial: Trial
    values: tuple[float, ...]
    shares: tuple[float, ...]
    expected: float
    sd: float


def is_wanted(data: Data) -> bool:
    """Whether a replicate may come now: while one is pending there is no other."""
    return not any(t.repeats is not None for t in data.pending)


def doubtful(data: Data, belief: Belief, *, max_replicates: int, is_any: bool) -> list[Doubtful]:
    """The points that may be measured again and of which a value is disbelieved, or any points.

    Args:
        data: All trials.
        belief: What is believed of each value.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    reports = {o.trial.number: o for o in belief}
    found = []
    for group in data.groups.values():
        if not group.told or group.is_closed or len(group.trials) > max_replicates:
            continue
        here = [reports[t.number] for t in group.told]
        if (is_any or any(o.flagged for o in here)) and data.region.contains(group.told[0].params):
            found.append(_doubtful(here, group.expectation if len(here) > 1 else None))
    return found


def _doubtful(here: Sequence[Outlier], said: tuple[float, float] | None) -> Doubtful:
    first, p = here[0], torch.tensor([o.probability_wrong for o in here], dtype=torch.float64)
    expected, sd = (first.expected, first.sd) if said is None else said
    return Doubtful(first.trial, tuple(o.value for o in here), tuple(shares(p).tolist()), expected, sd)


def replicate(
    data: Data, fitted: FittedSurrogate, belief: Belief, new: Row, *, max_replicates: int, is_any: bool = False
) -> Doubtful | None:
    """The point that gets a replicate in place of a new one, if any: the one that it is worth most to know.

    Args:
        data: All trials.
        fitted: The surrogate fitted to them.
        belief: What it believes of each value.
        new: The unit-cube row of the new point.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    candidates = doubtful(data, belief, max_replicates=max_replicates, is_any=is_any)
    if not candidates:
        return None
    means = {row: data.sign * mean for row, (mean, _) in fitted.at_points(is_averaged=False).items()}
    worth = _worth(data, means, candidates)
    i = int(worth.argmax())
    return candidates[i] if worth[i] > _promise(data, fitted, max(means.values()), new) else None


def _worth(data: Data, means: dict[Row, float], candidates: Sequence[Doubtful]) -> Tensor:
    """The value of knowing each of some points; posterior means are by unit-cube row, larger being better."""
    best, worths = sorted(means, key=means.__getitem__, reverse=True)[:2], []
    for of in candidates:
        row = data.rows[of.trial.number]
        other = max((means[another] for another in best if another != row), default=-math.inf)
        y, w = torch.tensor([of.values, of.shares], dtype=torch.float64)
        mu, sd, B = torch.tensor([data.sign * of.expected, of.sd, other], dtype=torch.float64)
        worths.append(value_of_replicate(data.sign * y, w, mu, sd, B))
    return torch.stack(worths).nan_to_num(0.0)  # NaN: nothing to compare it with


def _promise(data: Data, fitted: FittedSurrogate, best: float, new: Row) -> float:
    """The expected improvement of a new point, apart from the doubts."""
    (mean,), (sd,) = fitted.predict(fitted.encoded([new]), is_averaged=False)
    promised = torch.tensor([data.sign * mean, sd, best], dtype=torch.float64)
    return expected_improvement(*promised).item()
