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

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from robustbo.loop.observations.expectation import Appraisal, Expectation
from robustbo.loop.observations.groups import PointGroup
from robustbo.loop.observations.table import Data
from robustbo.loop.observations.units import robust_center_and_scale
from robustbo.numerics.gp.wrong_density import NEEDLE
from robustbo.numerics.improvement.wrong import PointBelief, judge_point
from robustbo.trials.trial import Trial

EVEN = 0.5  # probability of being wrong above which a value is disbelieved
SPARSE = 0.3  # of the told values: where more are in doubt, it is the models that are wrong

Status = Literal["inlier", "confirmed", "vouched for", "flagged", "quarantined", "refuted"]


@dataclass(frozen=True)
class CorruptionModel:
    """The model of corrupted values at one point, in which a value is right and predicted by the others, or wrong.

    Attributes:
        center: The median of all values.
        scale: Their robust standard deviation.
        rate: The prior probability of being wrong.
        shared: The values that stand at several points, to the last digit: failures may all look alike.
        least_noise: The least standard deviation that the noise of a value is taken to have.
    """

    center: float
    scale: float
    rate: float
    shared: frozenset[float]
    least_noise: float = 0.0

    @classmethod
    def of(cls, data: Data, rate: float) -> "CorruptionModel":
        """The model whose center and scale are those of the told values."""
        points = Counter(value for group in data.groups.values() for value in {t.measured for t in group.told})
        center, scale = robust_center_and_scale([t.measured for t in data.told])
        shared = frozenset(value for value, count in points.items() if count > 1)
        return cls(center, scale, rate, shared, data.least_noise)

    def probability_wrong(self, trials: Sequence[Trial], expectation: Expectation) -> dict[int, float]:
        """Probabilities, by trial, that its value is wrong, by what is expected at their point."""
        return self.judge(trials, expectation)[0]

    def probability_wrong_alone(self, trial: Trial, appraisal: Appraisal) -> float:
        """The probability that a value is wrong, by what a surrogate says of it: the surrogate's own if it has one."""
        if appraisal.wrong is not None:
            return appraisal.wrong
        return self.probability_wrong([trial], Expectation(appraisal.expected, appraisal.sd, trial.sd))[trial.number]

    def judge(self, trials: Sequence[Trial], expectation: Expectation) -> tuple[dict[int, float], float]:
        """Probabilities, by trial at one point, that its value is wrong, and that the objective is surprising there.

        Of a value that stands at another point too, to the last digit, a second one says nothing. A value whose own
        noise is known is held against that, in place of the noise that was expected.
        """
        once = {t.measured: i for i, t in reversed([*enumerate(trials)]) if t.measured in self.shared}
        distinct = [t for i, t in enumerate(trials) if once.get(t.measured, i) == i]
        noise = [max(t.noise_sd(expectation.noise_sd), self.least_noise) for t in distinct]
        about = {"center": self.center, "scale": self.scale, "rate": self.rate, "noise_dof": expectation.noise_dof}
        values = [t.measured for t in distinct]
        belief: PointBelief = judge_point(values, expectation.mean, expectation.latent_sd, noise, **about)
        by_trial = {t.number: p for t, p in zip(distinct, belief.wrong, strict=True)}
        first = {t.number: trials[once[t.measured]].number if t.measured in once else t.number for t in trials}
        return {number: by_trial[other] for number, other in first.items()}, belief.surprising


def quarantine_suspects(data: Data, rate: float) -> frozenset[int]:
    """The told trials whose values are more probably wrong than not, by what was expected when they were asked for.

    What is better than expected, with all at its point, is left to the surrogate: it may be the peak that is looked
    for, and gross values any fit finds. Where too many are in doubt, none is: it is the models that are wrong, as at a
    cliff.

    Args:
        data: All trials.
        rate: The prior probability of being wrong.
    """
    model, suspects = CorruptionModel.of(data, rate), set[int]()
    for group in data.groups.values():
        replicates, expectation = group.judged_together, group.expectation
        if replicates and expectation is not None:
            is_better = all(data.sign * (t.measured - expectation.mean) > 0 for t in replicates)
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


def unseen_probabilities_wrong(
    data: Data, model: CorruptionModel, appraisals: Mapping[int, Appraisal], unseen: Mapping[int, Expectation]
) -> dict[int, float]:
    """Probabilities, by trial, that a value is wrong which a surrogate was not fitted to.

    It is the surrogate's own, by the formula for those that it was fitted to, if it has one. Several values at a point
    none of whose values it was fitted to are judged together.

    Args:
        data: All trials.
        model: Of wrong values.
        appraisals: By trial, what the surrogate says of each alone.
        unseen: Of those at points none of whose values it was fitted to, what it expects there.
    """
    chances = {n: model.probability_wrong_alone(data.trials[n], appraisal) for n, appraisal in appraisals.items()}
    groups = {data.trials[number].point: (data.trials[number].point, of) for number, of in unseen.items()}
    for point, expectation in groups.values():
        if len(told := data.groups[point].told) > 1:
            chances |= model.probability_wrong(told, expectation)
    return chances


def probabilities_wrong(
    data: Data, model: CorruptionModel, appraisals: Mapping[int, Appraisal], unseen: Mapping[int, Expectation]
) -> dict[int, float]:
    """Probabilities, by told trial, that its value is wrong.

    Args:
        data: All trials.
        model: Of wrong values.
        appraisals: By trial, what the surrogate says of its value.
        unseen: Likewise of those at points none of whose values it was fitted to, what it expects there.
    """
    chances = unseen_probabilities_wrong(data, model, appraisals, unseen)
    for group in data.groups.values():
        replicates, expectation = group.judged_together, group.expectation
        is_told_by_surrogate = any(t.number in unseen or appraisals[t.number].wrong is not None for t in replicates)
        if len(replicates) > 1 and expectation is not None and not is_told_by_surrogate:
            chances |= model.probability_wrong(replicates, expectation)
        elif len(replicates) > 1 and is_told_by_surrogate:
            chances |= _without_needles({t.number: chances[t.number] for t in replicates})
    return chances | dict.fromkeys(data.vouched, 0.0)


def _without_needles(chances: Mapping[int, float]) -> dict[int, float]:
    """Probabilities of being wrong of the values at one point, which is no needle where another one is right there."""
    odd = {number: min(1.0, p * (1 + NEEDLE)) for number, p in chances.items()}
    alone = {number: math.prod(p for other, p in odd.items() if other != number) for number in odd}
    return {number: p + (odd[number] - p) * (1 - alone[number]) for number, p in chances.items()}


def status(trial: Trial, replicates: Sequence[Trial], disbelieved: frozenset[int], is_quarantined: bool) -> Status:
    """The belief in a value, in a word, given the other trials at its point."""
    if trial.is_vouched:
        return "vouched for"
    if trial.number not in disbelieved:
        return "confirmed" if replicates else "inlier"
    if any(t.number not in disbelieved for t in replicates):
        return "refuted"
    return "quarantined" if is_quarantined else "flagged"
