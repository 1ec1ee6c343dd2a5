"""Whether a trial gets a replicate, where several outcomes are measured: one repeat measures all of them.

As with one outcome (`loop.replicate`), but for the unit: what knowing its values is worth is how much hypervolume a
point may turn out to add, and it is held against the hypervolume that a new point promises.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.belief.measured_points import Candidates, probability_kept, turned
from robustbo.loop.belief.outcome_models import Several
from robustbo.loop.candidates.replicate import Doubtful, doubtful
from robustbo.loop.observations.table import Data, Row
from robustbo.numerics.improvement.front import Room, gain, room, worth_of_constraint, worth_of_objective
from robustbo.trials.trial import Trial


def replicate(
    data: Data, among: Candidates, reference: Tensor, new: Row, *, max_replicates: int, is_any: bool = False
) -> Trial | None:
    """The trial that gets a replicate in place of a new point, if any.

    It is that of which it is worth most to know the values, where one is disbelieved (or any), if that is more than a
    new point promises.

    Args:
        data: All trials.
        among: The points measured whose values are believed, and what has been learned of each outcome.
        reference: The reference point, turned so that larger is better.
        new: The unit-cube row of the new point.
        max_replicates: How many measurements more one point may get.
        is_any: Whether points will do whose values are all believed.
    """
    found: dict[Row, dict[int, Doubtful]] = {}
    for m, each in enumerate(among.several):
        for of in doubtful(each.data, each.belief, max_replicates=max_replicates, is_any=is_any):
            found.setdefault(data.rows[of.trial.number], {})[m] = of
    if not found:
        return None
    worths = {row: _worth(among, reference, row, of) for row, of in found.items()}
    best = max(worths, key=worths.__getitem__)
    first = min(of.trial.number for of in found[best].values())
    return data.trials[first] if worths[best] > promised(among, reference, new) else None


class _There(NamedTuple):
    """What is predicted at a point: ``1 x M`` means and standard deviations in the user's units."""

    mean: Tensor
    sd: Tensor


def _there(several: Several, row: Row) -> _There:
    said = [each.fitted.predict(each.fitted.encoded([row]), is_averaged=False) for each in several]
    mean, sd = (torch.tensor([pair[i] for pair in said], dtype=torch.float64).T for i in (0, 1))
    return _There(mean, sd)


def _kept(several: Several, there: _There, but: int | None = None) -> Tensor:
    """The probability that the outcomes keep their bounds, but for one of them: one value."""
    p = torch.ones(1, dtype=torch.float64)
    for m, each in enumerate(several):
        if m != but:
            p = p * probability_kept(each.wanted, there.mean[:, m], there.sd[:, m])
    return p


def _room(among: Candidates, reference: Tensor, but: Row | None = None) -> Room:
    """What the believed front leaves to be gained; with one objective that is what is above the best."""
    rows = [tuple(among.several[0].data.rows[trial.number]) for trial in among.trials]
    is_in = among.is_likely & torch.tensor([row != but for row in rows], dtype=torch.bool)
    return room(among.objectives[is_in], reference)


def promised(among: Candidates, reference: Tensor, new: Row) -> float:
    """The hypervolume that a new point is expected to add, apart from the doubts."""
    there = _there(among.several, new)
    sd = turned(among.several, there.sd).abs()
    added = gain(_room(among, reference), turned(among.several, there.mean), sd)
    return (added * _kept(among.several, there)).item()


def _worth(among: Candidates, reference: Tensor, row: Row, found: Mapping[int, Doubtful]) -> float:
    """What knowing the values of a point is worth; those of several outcomes, which are by their places, add up."""
    several = among.several
    there, to = _there(several, row), _room(among, reference, row)
    Y, places = turned(several, there.mean), [m for m, each in enumerate(several) if each.wanted.is_objective]
    total = 0.0
    for m, of in found.items():
        wanted = several[m].wanted
        y, w = torch.tensor([[of.values], [of.shares]], dtype=torch.float64)
        mu, sd = torch.tensor([[of.expected], [of.sd]], dtype=torch.float64)
        if m in places:
            sign, k = wanted.sign, places.index(m)
            worth = worth_of_objective(to, Y, k, sign * y, w, sign * mu, sd) * _kept(several, there)
        else:
            is_kept = torch.tensor([wanted.keeps(value) for value in of.values], dtype=torch.float64)
            kept = (w * is_kept).sum(-1) + (1 - w.sum(-1)).clamp_min(0) * probability_kept(wanted, mu, sd)
            worth = worth_of_constraint(gain(to, Y, torch.zeros_like(Y)) * _kept(several, there, m), kept)
        total += worth.nan_to_num(0.0).item()
    return total
