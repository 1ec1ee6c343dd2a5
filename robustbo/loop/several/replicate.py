"""Whether a trial gets a replicate, where several outcomes are measured: one repeat measures all of them.

As with one outcome (`loop.replicate`), but for the unit: what knowing a value is worth is how much hypervolume its
point may turn out to add, and it is held against the hypervolume that a new point promises.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.judge import Outlier
from robustbo.loop.observations import Data, Row
from robustbo.loop.replicate import WORTH, measured_once
from robustbo.loop.several.candidates import Candidates, probability_kept, turned
from robustbo.loop.several.learned import Several
from robustbo.numerics.improvement.front import Room, gain, room, worth_of_bound, worth_of_objective
from robustbo.trials.trial import Trial

Doubtful = Mapping[int, Outlier]  # values of a trial, by the place of their outcome


def replicate(
    data: Data, among: Candidates, reference: Tensor, new: Row, *, max_repeats: int, is_any: bool = False
) -> Trial | None:
    """The trial that gets a replicate in place of a new point, if any.

    Two values of one outcome that disagree, where the others do not tell which is wrong, come first. Next is the trial
    of which it is worth most to know the values that are flagged (or any), if that is more than a new point promises.

    Args:
        data: All trials.
        among: The points measured whose values are believed, and what has been learned of each outcome.
        reference: The reference point, turned so that larger is better.
        new: The unit-cube row of the new point.
        max_repeats: How many measurements more one point may get.
        is_any: Whether values that are not flagged will do.
    """
    doubtful: dict[int, dict[int, Outlier]] = {}
    for m, each in enumerate(among.several):
        disputed, once = measured_once(each.data, each.fitted, each.belief, max_repeats)
        if disputed is not None:
            return data.trials[disputed.trial.number]
        for o in once:
            if o.flagged or is_any:
                doubtful.setdefault(o.trial.number, {})[m] = o
    if not doubtful:
        return None
    worths = {number: _worth(data, among, reference, number, of) for number, of in sorted(doubtful.items())}
    best = max(worths, key=worths.__getitem__)
    scales = [each.fitted.scale for each in among.several if each.wanted.is_objective]
    least = max(WORTH * math.prod(scales), promised(among, reference, new))
    return data.trials[best] if worths[best] > least else None


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


def _worth(data: Data, among: Candidates, reference: Tensor, number: int, doubtful: Doubtful) -> float:
    """What knowing the doubtful values of a trial is worth; those of several outcomes add up."""
    several, row = among.several, data.rows[number]
    there, to = _there(several, row), _room(among, reference, row)
    Y, places = turned(several, there.mean), [m for m, each in enumerate(several) if each.wanted.is_objective]
    total = 0.0
    for m, o in doubtful.items():
        wanted = several[m].wanted
        p = torch.tensor([o.probability_wrong], dtype=torch.float64)
        y, mu, sd = (torch.tensor([number], dtype=torch.float64) for number in (o.value, o.expected, o.sd))
        if m in places:
            sign, k = wanted.sign, places.index(m)
            found = worth_of_objective(to, Y, k, sign * y, p, sign * mu, sd) * _kept(several, there)
        else:
            kept = (1 - p) * float(wanted.keeps(o.value)) + p * probability_kept(wanted, mu, sd)
            found = worth_of_bound(gain(to, Y, torch.zeros_like(Y)) * _kept(several, there, m), kept)
        total += found.nan_to_num(0.0).item()
    return total
