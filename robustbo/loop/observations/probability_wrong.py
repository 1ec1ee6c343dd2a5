"""How probable it is that each value is wrong: one probability, on which all rests that is believed or not.

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

from robustbo.loop.observations.expectation import Expectation, Word
from robustbo.loop.observations.groups import Place
from robustbo.loop.observations.table import Data
from robustbo.loop.observations.units import center_and_scale
from robustbo.numerics.improvement.wrong import probability_wrong
from robustbo.numerics.pursuit.penalty import RATE
from robustbo.trials.trial import Trial

EVEN = 0.5  # probability of being wrong above which a value is disbelieved
SPARSE = 0.3  # of the told values: where more are in doubt, it is the models that are wrong

Status = Literal["inlier", "confirmed", "vouched for", "flagged", "quarantined", "refuted"]


@dataclass(frozen=True)
class Doubts:
    """What is needed to doubt values at one point.

    Attributes:
        center: Of all values.
        scale: Of all values.
        shared: The values that stand at several points, to the last digit: failures may all look alike.
    """

    center: float
    scale: float
    shared: frozenset[float]

    @classmethod
    def of(cls, data: Data) -> "Doubts":
        """By the told values."""
        points = Counter(value for place in data.places.values() for value in {t.measured for t in place.told})
        center, scale = center_and_scale(tuple(t.measured for t in data.told))
        return cls(center, scale, frozenset(value for value, count in points.items() if count > 1))

    def wrong(self, trials: Sequence[Trial], said: Expectation) -> dict[int, float]:
        """By trial, the probability that its value is wrong, by what is expected at their point.

        Of a value that stands at another point too, to the last digit, a second one says nothing.
        """
        once = {t.measured: i for i, t in reversed([*enumerate(trials)]) if t.measured in self.shared}
        kept = [t for i, t in enumerate(trials) if once.get(t.measured, i) == i]
        values = [t.measured for t in kept]
        found = probability_wrong(values, *said, center=self.center, scale=self.scale, rate=RATE)
        by_trial = {t.number: p for t, p in zip(kept, found, strict=True)}
        return {t.number: by_trial[trials[once[t.measured]].number if t.measured in once else t.number] for t in trials}


def doubted(data: Data) -> frozenset[int]:
    """The told trials whose values are more probably wrong than not, by what was expected when they were asked for.

    What is better than expected, with all at its point, is left to the surrogate: it may be the peak that is looked
    for, and gross values any fit finds. Where too many are in doubt, none is: it is the models that are wrong, as at a
    cliff.
    """
    doubts, found = Doubts.of(data), set[int]()
    for place in data.places.values():
        judged, said = place.judged, place.expectation
        if judged and said is not None:
            is_better = all(data.sign * (t.measured - said[0]) > 0 for t in judged)
            found |= set() if is_better else disbelieved(doubts.wrong(judged, said)) - data.vouched
    return frozenset(found if len(found) <= SPARSE * len(data.told) else ())


def disbelieved(wrong: Mapping[int, float]) -> set[int]:
    """Of some trials those whose values are more probably wrong than right."""
    return {number for number, p in wrong.items() if p > EVEN}


def unmodelled(data: Data, numbers: frozenset[int]) -> list[Place]:
    """The points none of whose values is modelled, where some trials are not."""
    found = {data.trials[number].point: data.places[data.trials[number].point] for number in sorted(numbers)}
    return [place for place in found.values() if numbers.issuperset(t.number for t in place.told)]


def probabilities(data: Data, words: Mapping[int, Word], unseen: Mapping[int, Expectation]) -> dict[int, float]:
    """By told trial, the probability that its value is wrong.

    Args:
        data: All trials.
        words: By trial, what the surrogate says of its value.
        unseen: Likewise of those at points none of whose values it was fitted to, what it expects there.
    """
    doubts, found = Doubts.of(data), dict[int, float]()
    for place in data.places.values():
        judged = place.judged
        together = len(judged) > 1 or any(t.number in unseen for t in judged)
        said = next((unseen[t.number] for t in judged if t.number in unseen), place.expectation) if together else None
        if said is not None:
            found |= doubts.wrong(judged, said)
        else:
            found |= {t.number: doubts.wrong([t], words[t.number][:2])[t.number] for t in place.told}
    found |= {number: word.wrong for number, word in words.items() if word.wrong is not None}
    return found | dict.fromkeys(data.vouched, 0.0)


def status(trial: Trial, others: Sequence[Trial], disbelieved: frozenset[int], is_quarantined: bool) -> Status:
    """What is believed of a value, in a word, given the others at its point."""
    if trial.is_vouched:
        return "vouched for"
    if trial.number not in disbelieved:
        return "confirmed" if others else "inlier"
    if any(t.number not in disbelieved for t in others):
        return "refuted"
    return "quarantined" if is_quarantined else "flagged"
