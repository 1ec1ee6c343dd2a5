"""The probability that each value is wrong: one number, on which all belief in values rests.

It is sampled over sets of wrong values where the surrogate does so (`numerics.pursuit.gibbs`), and else found at each
point alone (`numerics.improvement.wrong`): the same model, in which a value is right and predicted by the others, or
wrong and says nothing. A value is disbelieved where it is more probably wrong than right.

A model fitted to a wrong value adapts to it: with few observations its length-scales shrink until nothing looks wrong.
The model that asked for the value has not seen it. So what it expected is kept with the trial, and a value that is
wrong by that is quarantined: left out of the fit, until another measurement, or a model fitted without it, bears it
out.

References:
    Dawid (1984), Statistical theory: the prequential approach; docs/equations.md section 16.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from robustbo.loop.observations.expectation import Appraisal, Expectation
from robustbo.loop.observations.groups import PointGroup
from robustbo.loop.observations.table import Data
from robustbo.loop.observations.units import center_and_scale
from robustbo.numerics.improvement.wrong import probability_wrong
from robustbo.numerics.pursuit.penalty import RATE
from robustbo.trials.trial import Trial

EVEN = 0.5  # probability of being wrong above which a value is disbelieved
SPARSE = 0.3  # of the told values: where more are in doubt, it is the models that are wrong

Status = Literal["inlier", "confirmed", "vouched for", "flagged", "quarantined", "refuted"]


@dataclass(frozen=True)
class CorruptionModel:
    """The model of corrupted values at one point, in which a value is right and predicted by the others, or wrong.

    Attributes:
        center: Of all values.
        scale: Of all values.
        shared: The values that stand at several points, to the last digit: failures may all look alike.
    """

    center: float
    scale: float
    shared: frozenset[float]

    @classmethod
    def of(cls, data: Data) -> "CorruptionModel":
        """The model whose center and scale are those of the told values."""
        points = Counter(value for group in data.groups.values() for value in {t.measured for t in group.told})
        center, scale = center_and_scale(tuple(t.measured for t in data.told))
        return cls(center, scale, frozenset(value for value, count in points.items() if count > 1))

    def probability_wrong(self, trials: Sequence[Trial], expectation: Expectation) -> dict[int, float]:
        """Probabilities, by trial, that its value is wrong, by what is expected at their point.

        Of a value that stands at another point too, to the last digit, a second one says nothing.
        """
        once = {t.measured: i for i, t in reversed([*enumerate(trials)]) if t.measured in self.shared}
        distinct = [t for i, t in enumerate(trials) if once.get(t.measured, i) == i]
        values = [t.measured for t in distinct]
        chances = probability_wrong(values, *expectation, center=self.center, scale=self.scale, rate=RATE)
        by_trial = {t.number: p for t, p in zip(distinct, chances, strict=True)}
        return {t.number: by_trial[trials[once[t.measured]].number if t.measured in once else t.number] for t in trials}


def quarantine_suspects(data: Data) -> frozenset[int]:
    """The told trials whose values are more probably wrong than not, by what was expected when they were asked for.

    What is better than expected, with all at its point, is left to the surrogate: it may be the peak that is looked
    for, and gross values any fit finds. Where too many are in doubt, none is: it is the models that are wrong, as at a
    cliff.
    """
    model, suspects = CorruptionModel.of(data), set[int]()
    for group in data.groups.values():
        replicates, expectation = group.judged_together, group.expectation
        if replicates and expectation is not None:
            is_better = all(data.sign * (t.measured - expectation[0]) > 0 for t in replicates)
            suspects |= (
                set() if is_better else probably_wrong(model.probability_wrong(replicates, expectation)) - data.vouched
            )
    return frozenset(suspects if len(suspects) <= SPARSE * len(data.told) else ())


def probably_wrong(wrong: Mapping[int, float]) -> set[int]:
    """The trials whose values are more probably wrong than right."""
    return {number for number, p in wrong.items() if p > EVEN}


def groups_left_out(data: Data, numbers: frozenset[int]) -> list[PointGroup]:
    """The points none of whose values is modelled, where some trials are not."""
    groups = {data.trials[number].point: data.groups[data.trials[number].point] for number in sorted(numbers)}
    return [group for group in groups.values() if numbers.issuperset(t.number for t in group.told)]


def probabilities_wrong(
    data: Data, appraisals: Mapping[int, Appraisal], unseen: Mapping[int, Expectation]
) -> dict[int, float]:
    """Probabilities, by told trial, that its value is wrong.

    Args:
        data: All trials.
        appraisals: By trial, what the surrogate says of its value.
        unseen: Likewise of those at points none of whose values it was fitted to, what it expects there.
    """
    model, chances = CorruptionModel.of(data), dict[int, float]()
    for group in data.groups.values():
        replicates = group.judged_together
        together = len(replicates) > 1 or any(t.number in unseen for t in replicates)
        expectation = (
            next((unseen[t.number] for t in replicates if t.number in unseen), group.expectation) if together else None
        )
        if expectation is not None:
            chances |= model.probability_wrong(replicates, expectation)
        else:
            chances |= {t.number: model.probability_wrong([t], appraisals[t.number][:2])[t.number] for t in group.told}
    chances |= {number: appraisal.wrong for number, appraisal in appraisals.items() if appraisal.wrong is not None}
    return chances | dict.fromkeys(data.vouched, 0.0)


def status(trial: Trial, replicates: Sequence[Trial], disbelieved: frozenset[int], is_quarantined: bool) -> Status:
    """The belief in a value, in a word, given the other trials at its point."""
    if trial.is_vouched:
        return "vouched for"
    if trial.number not in disbelieved:
        return "confirmed" if replicates else "inlier"
    if any(t.number not in disbelieved for t in replicates):
        return "refuted"
    return "quarantined" if is_quarantined else "flagged"
