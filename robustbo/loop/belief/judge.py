"""The belief in each value: one form of report for every surrogate, which everything that asks for a belief reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.belief.surprising import SurprisingPoint, points_of_surprise
from robustbo.loop.observations.expectation import Appraisal, Expectation
from robustbo.loop.observations.probability_wrong import (
    CorruptionModel,
    Status,
    groups_left_out,
    probabilities_wrong,
    probably_wrong,
    status,
)
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.surrogates.common.contract import capabilities, diagnose, quiet
from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome


@dataclass(frozen=True)
class Outlier:
    """A measured value beside its prediction from all other values.

    Attributes:
        trial: The trial.
        value: What was measured.
        expected: The prediction from the other measurements.
        sd: Standard deviation of the prediction, noise included; for a skewed one, on the side of the value.
        evidence: Log-likelihood ratio of the value having its own error, in nats (5 nats: 150 times as likely).
        probability_wrong: Probability that the value is wrong; see `robustbo.loop.observations.probability_wrong`.
        status: "flagged" (disbelieved), "quarantined" (disbelieved because the surrogate did not expect it, and left
            out of the fit), "refuted" (disbelieved beside a believed value at its point), "confirmed" (believed, with
            another value at its point), "vouched for" (believed because the user says so), or "inlier".
        weight: Weight of the value in the fit, from 0 (quarantined) to 1, if the surrogate weighs values; in relevance
            pursuit the probability that the value is right.
        outcome: The outcome's name; None with a single outcome.
        failed: With several outcomes, the probability that the whole trial failed, which spoils all its values; None if
            the surrogates give no probabilities.
        quantity: Name, unit and possible range of value and expectation; the expectation lies within the range.

    Example:
        >>> print(Outlier(Trial(7, {"x": 0.5}), 9.9, 0.2341, 0.0223, 42.1, 0.9999, "refuted"))
        trial 7: measured 9.9, expected 0.2341 ± 0.022; refuted, wrong with probability 1, evidence 42.1 nats
    """

    trial: Trial
    value: float
    expected: float
    sd: float
    evidence: float
    probability_wrong: float
    status: Status
    weight: float | None = None
    outcome: str | None = None
    failed: float | None = None
    quantity: Outcome = field(default=Outcome(), repr=False, compare=False)

    def __str__(self) -> str:
        of, name = self.quantity, self.outcome or self.quantity.name
        subject = self.trial.title + (f", {name}" if name else "")
        values = f"measured {of.number(self.value, 4, self.sd)}, expected {of.around(self.expected, self.sd)}"
        doubt = f"wrong with probability {self.probability_wrong:.3g}, evidence {self.evidence:.3g} nats"
        return f"{subject}: {values}; {self.status}, {doubt}"

    def of(self, quantity: Outcome) -> "Outlier":
        """The report for people: of what is measured, with an expectation that is possible."""
        return replace(self, expected=quantity.nearest(self.expected), quantity=quantity)

    @property
    def flagged(self) -> bool:
        """Return whether the value is treated as an outlier."""
        return self.status in ("flagged", "quarantined", "refuted")

    @property
    def remeasured(self) -> str:
        """The verdict of replicates at its point: "confirmed", "refuted", or "not yet"."""
        return self.status if self.status in ("confirmed", "refuted") else "not yet"


@dataclass(frozen=True)
class OutlierReports:
    """The reports on all told values, the most suspicious first: flagged before not, then by evidence.

    Attributes:
        values: The reports.
        surprising: Points whose values are believed though the fit does not follow them, by unit-cube row: mean and
            standard deviation of the objective there, by its values.
    """

    values: tuple[Outlier, ...]
    surprising: Mapping[Row, tuple[float, float]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Outlier]:
        return iter(self.values)

    @property
    def flagged(self) -> frozenset[int]:
        """The trials whose values are disbelieved."""
        return frozenset(o.trial.number for o in self.values if o.flagged)


@pin_surroundings
def judge(data: Data, fitted: FittedSurrogate) -> OutlierReports:
    """The belief of a fitted surrogate in each told value.

    It disbelieves what is more probably wrong than right, if the loop heeds it; another, and one that leaves out some
    of what it is given, what it treats as outliers.
    """
    data = data.with_correction(fitted.observations.correction)
    appraisals = _appraise(data, fitted)
    check_finite(*(number for appraisal in appraisals.values() for number in appraisal[:3]))
    model = CorruptionModel.of(data, fitted.prior_rate(len(data.told)))
    wrong = probabilities_wrong(data, model, appraisals, _unseen(data, fitted))
    can, surprising = capabilities(fitted.model), dict[Row, SurprisingPoint]()
    if can.is_heeded and not can.judges_alone:
        surprising = points_of_surprise(data, model, fitted, wrong)
        for point in surprising.values():
            wrong |= point.wrong
            appraisals |= {n: point.appraise(data.trials[n], appraisals[n]) for n in point.wrong}
        disbelieved = probably_wrong(wrong)
    else:
        disbelieved = {number for number, appraisal in appraisals.items() if appraisal.is_outlier}
    confirmed = {n for point in surprising.values() for n in point.wrong} - disbelieved  # whatever the fit left out
    out = frozenset(disbelieved.union(fitted.quarantined)) - confirmed - data.vouched
    reports = []
    for number, appraisal in appraisals.items():
        trial = data.trials[number]
        replicates = [t for t in data.groups[trial.point].told if t is not trial]
        belief = status(trial, replicates, out, number in fitted.quarantined)
        reports.append(Outlier(trial, trial.measured, *appraisal[:3], wrong[number], belief, appraisal.weight))
    values = {row: point.value() for row, point in surprising.items()}
    return OutlierReports(tuple(sorted(reports, key=suspicion_order)), values)


def suspicion_order(o: Outlier) -> tuple[bool, float, int]:
    """The key by which values are sorted, the most suspicious first: flagged before not, then by evidence."""
    return not o.flagged, -o.evidence, o.trial.number


def _appraise(data: Data, fitted: FittedSurrogate) -> dict[int, Appraisal]:
    """Appraisals by trial: of the values that it was fitted to, of others, and of those in quarantine."""
    with fitted.apart(0), quiet():
        diagnosis = diagnose(fitted.model)
    expected, sd = fitted.in_units(diagnosis.expected, diagnosis.sd)
    wrong: list[float | None] = [None] * len(expected)
    weight = wrong if diagnosis.weight is None else diagnosis.weight.clamp(max=1.0).tolist()
    if fitted.probability_wrong is not None:
        wrong, weight = [*fitted.probability_wrong], [1 - p for p in fitted.probability_wrong]
    marks = diagnosis.evidence.tolist(), diagnosis.is_outlier.tolist()
    rows = zip(expected, sd, *marks, weight, wrong, strict=True)
    appraisals = dict(zip(fitted.observations.numbers, (Appraisal(*row) for row in rows), strict=True)) | {
        **fitted.appraisals
    }
    if fitted.quarantined:
        no_weight = None if weight[:1] == [None] else 0.0
        for number, appraisal in fitted.appraise(data.all_observations().of(fitted.quarantined)).items():
            appraisals[number] = appraisal._replace(is_outlier=True, weight=no_weight)
    return appraisals


def _unseen(data: Data, fitted: FittedSurrogate) -> dict[int, Expectation]:
    """Expectations by trial of a surrogate at the points none of whose values it was fitted to."""
    groups = groups_left_out(data, frozenset(fitted.quarantined))
    expectations = fitted.expect(data.rows_of([group.told[0].number for group in groups]))
    return {t.number: of for group, of in zip(groups, expectations, strict=True) for t in group.told}
