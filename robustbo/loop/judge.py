"""What is believed of each value: one report form for every surrogate, which all that asks for a belief reads."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from robustbo.determinism.surroundings import pinned
from robustbo.loop.evidence import NEAR, Word, agree, probability_wrong, refutes, surprise
from robustbo.loop.fitted import Fitted
from robustbo.loop.ladder import finite
from robustbo.loop.observations import Data
from robustbo.surrogates.common.contract import diagnose, quiet, weights
from robustbo.trials.history import Trial


@dataclass(frozen=True)
class Outlier:
    """A measured value against what all the others predict for it.

    Attributes:
        trial: The trial.
        value: What was measured.
        expected: What the other measurements predict for it.
        sd: Standard deviation of that prediction, noise included.
        evidence: Log-likelihood ratio of this value having an error of its own, in nats (5 nats: 150 times as likely).
        flagged: Whether it is treated as an outlier: by the surrogate, or by being quarantined
            (`robustbo.loop.quarantine`).
        remeasured: What another measurement at its point said of it: "confirmed", "refuted", or "not yet".
        weight: How much it counts in the fit, 1 being all, where the surrogate weighs values (0 where it is
            quarantined); in relevance pursuit the probability that it is right, over all sets of outliers.
        outcome: Which of several outcomes it is; None where there is one.
        failed: Of several outcomes, the probability that the trial failed as a whole, which spoils all of them; None
            where the surrogates do not tell how probable it is that a value is wrong.
    """

    trial: Trial
    value: float
    expected: float
    sd: float
    evidence: float
    flagged: bool
    remeasured: str
    weight: float | None = None
    outcome: str | None = None
    failed: float | None = None

    @property
    def probability_wrong(self) -> float:
        """By the surprise against what was expected when it was asked, or the evidence: whichever is the more."""
        asked = self.trial.expectation if self.outcome is None else self.trial.expectations.get(self.outcome)
        return probability_wrong(self.evidence, self.value, asked)


@dataclass(frozen=True)
class Belief:
    """What is believed of the told values, the most suspicious first: flagged before not, then by evidence."""

    values: tuple[Outlier, ...]

    def __iter__(self) -> Iterator[Outlier]:
        return iter(self.values)

    @property
    def flagged(self) -> frozenset[int]:
        """The trials whose values are disbelieved."""
        return frozenset(o.trial.number for o in self.values if o.flagged)


@pinned
def judge(data: Data, fitted: Fitted, *, is_weighed: bool = False) -> Belief:
    """What a surrogate that has been fitted to the data believes of each told value; weights take time."""
    said = _said(data, fitted, is_weighed)
    finite(*(number for word in said.values() for number in word[:3]))
    flagged = {number for number, word in said.items() if word.flagged}
    report = []
    for number, word in said.items():
        trial = data.trials[number]
        others = [t for t in data.places[trial.point].told if t is not trial]
        verdict = _remeasured(trial, others, word, flagged, number in fitted.quarantined)
        report.append(Outlier(trial, trial.measured, *word[:4], verdict, word.weight))
    return Belief(tuple(sorted(report, key=suspicious)))


def suspicious(o: Outlier) -> tuple[bool, float, int]:
    """By what values are sorted, the most suspicious first: flagged before not, then by evidence."""
    return not o.flagged, -o.evidence, o.trial.number


def _said(data: Data, fitted: Fitted, is_weighed: bool) -> dict[int, Word]:
    """By trial: the surrogate's word on what it was fitted to and on others, and how far off a quarantined value is."""
    with fitted.apart(0), quiet():
        diagnosis = diagnose(fitted.model)
        weight = weights(fitted.model, diagnosis) if is_weighed else None
    expected, sd = fitted.in_units(diagnosis.expected, diagnosis.sd)
    each = [None] * len(expected) if weight is None else weight.tolist()
    rows = zip(expected, sd, diagnosis.evidence.tolist(), diagnosis.is_outlier.tolist(), each, strict=True)
    said = dict(zip(fitted.observations.numbers, (Word(*row) for row in rows), strict=True))
    said |= {n: word._replace(weight=word.weight if is_weighed else None) for n, word in fitted.others.items()}
    against = fitted.expect(data.rows_of(fitted.quarantined))
    for number, expectation in zip(fitted.quarantined, against, strict=True):
        evidence = surprise(data.trials[number].measured, *expectation)
        said[number] = Word(*expectation, evidence, True, None if weight is None else 0.0)
    return said


def _remeasured(
    trial: Trial, others: Sequence[Trial], word: Word, flagged: Collection[int], is_quarantined: bool
) -> str:
    """What the other values at a trial's point say of its own.

    A believed value is confirmed by being believed still, unless another that is believed too does not agree. A flagged
    one is refuted where none is near. Two that are quarantined together wait for a third, which refutes both.
    """
    if not others:
        return "not yet"
    if not word.flagged:
        believed = [t.measured for t in others if t.number not in flagged]
        is_alone = believed and not any(agree(other, trial.measured, NEAR * word.sd) for other in believed)
        return "not yet" if is_alone else "confirmed"
    is_refuted = refutes((t.measured for t in others), trial.measured, word.expected)
    if is_quarantined and not is_refuted:
        return "not yet" if len(others) == 1 else "refuted"
    return "refuted" if is_refuted else "confirmed"
