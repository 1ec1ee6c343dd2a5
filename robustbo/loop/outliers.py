"""One report form for every surrogate: which values are suspicious, and the evidence."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from robustbo.determinism.surroundings import pinned
from robustbo.errors import FitError
from robustbo.loop.fit import Fitted
from robustbo.loop.ladder import climb, finite
from robustbo.loop.quarantine import surprise
from robustbo.surrogates.common.contract import diagnose, quiet, weights
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

Row = tuple[float, float, float, bool]  # expected, sd, evidence, whether flagged


@dataclass(frozen=True)
class Outlier:
    """A measured value against what all the others predict for it.

    Attributes:
        trial: The trial.
        value: What was measured.
        expected: What the other measurements predict for it.
        sd: Standard deviation of that prediction, noise included.
        evidence: Nats by which the data are likelier if this value has an error of its own (5 nats: 150 times).
        flagged: Whether it is treated as an outlier: by the surrogate, or by being left out
            (`robustbo.loop.quarantine`).
        remeasured: What another measurement at its point said of it: "confirmed", "refuted", or "not yet".
        weight: How much it counts in the fit, 1 being all, where the surrogate weighs values (0 where it is left out);
            in relevance pursuit the probability that it is right, over all sets of outliers.
    """

    trial: Trial
    value: float
    expected: float
    sd: float
    evidence: float
    flagged: bool
    remeasured: str
    weight: float | None = None


@pinned
def outliers(settings: Settings, history: History, *, is_weighed: bool = True) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence; weights take time."""
    if not history.having("told"):
        return []

    def judged(of: Settings, fitted: Fitted) -> list[Outlier]:
        return reported(of, history, fitted, is_weighed=is_weighed)

    report, why = climb(settings, history, judged, is_judging=True)
    if report is None:
        raise FitError(f"no surrogate could judge these values {why}")
    return report


@pinned
def reported(settings: Settings, history: History, fitted: Fitted, *, is_weighed: bool = False) -> list[Outlier]:
    """The same, by a surrogate that has been fitted to the history."""
    with fitted.apart(0), quiet():
        diagnosis = diagnose(fitted.model)
        counts = weights(fitted.model, diagnosis) if is_weighed else None
    expected, sd = fitted.in_units(diagnosis.expected, diagnosis.sd)
    columns = (expected, sd, diagnosis.evidence.tolist(), diagnosis.is_outlier.tolist())
    found = dict(zip(fitted.observations.numbers, zip(*columns, strict=True), strict=True))
    weight = dict[int, float]()
    if counts is not None:
        weight = dict.fromkeys(fitted.aside, 0.0) | dict(zip(fitted.observations.numbers, counts.tolist(), strict=True))
    left_out = [history[number] for number in fitted.aside]
    for trial, said in zip(left_out, fitted.expect(settings.space, left_out), strict=True):
        found[trial.number] = (*said, surprise(trial.measured, *said), True)
    finite(*(number for row in found.values() for number in row[:3]))
    flagged, at_points = {number for number, row in found.items() if row[3]}, history.at_points()
    report = []
    for number, row in found.items():
        trial = history[number]
        copies = [t for t in at_points[trial.point] if t.state == "told" and t is not trial]
        remeasured = _remeasured(trial, copies, row, flagged, fitted.aside)
        report.append(Outlier(trial, trial.measured, *row, remeasured, weight.get(number)))
    return sorted(report, key=lambda o: (not o.flagged, -o.evidence, o.trial.number))


def _remeasured(
    trial: Trial, others: Sequence[Trial], row: Row, flagged: Collection[int], aside: Collection[int]
) -> str:
    """What the other values at a trial's point say of its own.

    A believed value is confirmed by being believed still, unless another that is believed too is more than three
    standard deviations off. A flagged one is confirmed by one that is nearer than half way to what is expected, and
    refuted otherwise. Two that are left out together wait for a third.
    """
    expected, sd, _, is_flagged = row
    if not others:
        return "not yet"
    if not is_flagged:
        believed = [abs(t.measured - trial.measured) for t in others if t.number not in flagged]
        return "confirmed" if min(believed, default=0.0) <= 3 * sd else "not yet"
    is_near = min(abs(t.measured - trial.measured) for t in others) < abs(trial.measured - expected) / 2
    if trial.number in aside and is_near:
        return "not yet" if len(others) == 1 else "refuted"
    return "confirmed" if is_near else "refuted"
