"""The rules in which decisions for one outcome and for several differ, chosen here and nowhere else.

With one outcome a replicate is worth what knowing the value adds to the best mean, in the units of the value; with
several it is worth hypervolume, since nothing else weighs one objective against another. With one the expectation that
is kept with a replicate is that of the whole group of values at its point; with several it is that of the other values
of the outcome. Whether there may be replicates depends on the surrogate that could be fitted, or with several on the
one that was asked for. And a surrogate that judges on a schedule leaves a verdict in the history only where it is the
only one.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch

from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels, finite_expectation
from robustbo.loop.best.front import reference_of
from robustbo.loop.best.incumbent import incumbents_of_model
from robustbo.loop.best.measured_points import measured_points
from robustbo.loop.candidates.choose import may_replicate
from robustbo.loop.candidates.replicate import replicate
from robustbo.loop.candidates.replicate_by_hypervolume import expected_hypervolume, replicate_by_hypervolume
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.candidates.target import MultiTarget, SingleTarget, Target
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.value_of_information import expected_improvement
from robustbo.surrogates.common.contract import capabilities
from robustbo.surrogates.filtered import FilterVerdict
from robustbo.trials.history import Diagnosis
from robustbo.trials.settings import Settings
from robustbo.trials.trial import Trial


class Promise(NamedTuple):
    """The promise of a new point before it was measured, in your units.

    Attributes:
        gain: Expected improvement of the objective there on that at the incumbent, times the probability that the
            outcome constraints are kept; of several objectives the hypervolume that it was expected to add.
        noise: Standard deviation of the noise of a value there; of several objectives 0.
    """

    gain: float
    noise: float


UNKNOWN = Promise(math.inf, 0.0)


class Rules(Protocol):
    """The rules of a decision that depend on how many outcomes there are."""

    @property
    def target(self) -> Target:
        """The acquisition function, and the surrogates that it is of."""

    def replicate(self, row: Row) -> Suggestion | None:
        """A replicate in place of a new point at a unit-cube row, if knowing that value is worth more."""

    def expectation(self, suggestion: Suggestion) -> Expectation | dict[str, Expectation] | None:
        """The expectation that is kept with a suggestion, if the surrogates are robust."""

    def diagnosis(self, trial: int) -> Diagnosis | None:
        """The verdict that the decision stands on, if the history does not end with the same."""

    def promise(self, row: Row) -> Promise:
        """The promise of a new point at a unit-cube row."""


def rules_of(settings: Settings, data: Data, models: OutcomeModels) -> Rules:
    """The rules for one outcome or for several."""
    if not settings.outcomes:
        return SingleOutcomeRules(models[0].data, models[0])
    points = measured_points(data, models)
    return SeveralOutcomesRules(settings, data, MultiTarget(points, reference_of(settings, points)))


@dataclass(frozen=True)
class SingleOutcomeRules:
    """The rules where there is one outcome; see `Rules`.

    Attributes:
        data: All trials.
        model: The model of the outcome.
    """

    data: Data
    model: OutcomeModel

    @property
    def target(self) -> Target:
        """The acquisition function of the only surrogate."""
        return SingleTarget(self.model.fitted)

    def replicate(self, row: Row) -> Suggestion | None:
        """A replicate in place of a new point at a unit-cube row, by expected improvement of the best mean."""
        settings, fitted = self.model.settings, self.model.fitted
        if not may_replicate(settings, self.data):
            return None
        belief, is_any = self.model.belief, settings.replicate == "any"
        point = replicate(self.data, fitted, belief, row, max_replicates=settings.max_replicates, is_any=is_any)
        if point is None:
            return None
        expected = finite_expectation(Expectation(point.expected, point.sd, _noise(self.model, point.trial, point.sd)))
        return Suggestion(point.trial.params, "model", expected, point.trial.number)

    def expectation(self, suggestion: Suggestion) -> Expectation | dict[str, Expectation] | None:
        """The expectation at a new point; of a replicate, that of all other values at its point."""
        if suggestion.trial_to_replicate is not None:
            return suggestion.expected
        return self.model.expect(tuple(self.data.space.to_unit(suggestion.params)))

    def diagnosis(self, trial: int) -> Diagnosis | None:
        """The verdict that the surrogate stands on, if the history does not end with the same."""
        fitted = self.model.fitted
        verdict: FilterVerdict | None = fitted.model.verdict if capabilities(fitted.model).judges_alone else None
        if verdict is None:
            return None
        numbers = [fitted.observations.numbers[i] for i in verdict.outliers]
        by_trial = dict(sorted(zip(numbers, verdict.percentiles, strict=True)))
        outliers, percentiles = tuple(by_trial), tuple(u if fitted.units.sign > 0 else 1 - u for u in by_trial.values())
        diagnosis = Diagnosis(trial, verdict.observations, outliers, percentiles, verdict.is_void)
        last = self.data.diagnoses[-1:]
        is_known = [(d.observations, d.outliers, d.void) for d in last] == [
            (diagnosis.observations, diagnosis.outliers, diagnosis.void)
        ]
        return None if is_known else diagnosis

    def promise(self, row: Row) -> Promise:
        """The promise of a new point: the expected improvement on the incumbent, by the surrogate alone."""
        fitted, sign = self.model.fitted, self.data.sign
        best = incumbents_of_model(self.data, self.model)[-1]
        (mean,), (sd,) = fitted.predict(fitted.encoded([row]))
        mu, s, B = torch.tensor([sign * mean, sd, sign * best.mean], dtype=torch.float64)
        gain = expected_improvement(mu, s, B).item() if sd > 0 else max((mu - B).item(), 0.0)
        return _promise(gain, [_measurement_noise(fitted, row)])


@dataclass(frozen=True)
class SeveralOutcomesRules:
    """The rules where there are several outcomes; see `Rules`.

    Attributes:
        settings: What the run was told at its beginning.
        data: All trials.
        target: The acquisition function of all surrogates.
    """

    settings: Settings
    data: Data
    target: MultiTarget

    def replicate(self, row: Row) -> Suggestion | None:
        """A replicate in place of a new point at a unit-cube row, by hypervolume."""
        if not may_replicate(self.settings, self.data):
            return None
        settings, points, reference = self.settings, self.target.points, self.target.reference
        is_any = settings.replicate == "any"
        first = replicate_by_hypervolume(
            self.data, points, reference, row, max_replicates=settings.max_replicates, is_any=is_any
        )
        return None if first is None else Suggestion(first.params, "model", None, first.number)

    def expectation(self, suggestion: Suggestion) -> Expectation | dict[str, Expectation] | None:
        """The expectations at a point, by outcome: of a replicate, what all but its value predict."""
        row = tuple(self.data.space.to_unit(suggestion.params))
        expectations = {
            model.outcome.name: _expectation(model, row, suggestion.trial_to_replicate) for model in self.target.models
        }
        return {name: expected for name, expected in expectations.items() if expected is not None} or None

    def diagnosis(self, trial: int) -> Diagnosis | None:
        """No verdict: with several outcomes none is kept."""
        return None

    def promise(self, row: Row) -> Promise:
        """The promise of a new point: the hypervolume that it may add."""
        gain = expected_hypervolume(self.target.points, self.target.reference, row)
        objectives = [model.fitted for model in self.target.models if model.outcome.is_objective]
        return _promise(gain, [_measurement_noise(fitted, row) for fitted in objectives])


def _promise(gain: float, noises: list[float]) -> Promise:
    """A promise that is a number, of one objective or of several."""
    return Promise(gain if math.isfinite(gain) else math.inf, noises[0] if len(noises) == 1 else 0.0)


def _measurement_noise(fitted: FittedSurrogate, row: Row) -> float:
    """The standard deviation of the noise of a value at a unit-cube row."""
    x = fitted.encoded([row])
    _, (sd,) = fitted.predict(x)
    _, (noisy_sd,) = fitted.predict(x, is_noisy=True)
    return math.sqrt(max(noisy_sd**2 - sd**2, 0.0))


def _expectation(model: OutcomeModel, row: Row, replicated: int | None) -> Expectation | None:
    """The expectation of one outcome at a unit-cube row; of a replicate, that of the values beside its own."""
    reports = () if replicated is None else model.belief
    report = next((report for report in reports if report.trial.number == replicated), None)
    if report is None:
        return model.expect(row)
    return finite_expectation(Expectation(report.expected, report.sd, _noise(model, report.trial, report.sd)))


def _noise(model: OutcomeModel, trial: Trial, most: float) -> float | None:
    """The noise of a value at the point of a trial, in what a surrogate expects there; at most what is all of it."""
    expectation = model.expect(model.data.rows[trial.number])
    return None if expectation is None or expectation.noise is None else min(expectation.noise, most)
