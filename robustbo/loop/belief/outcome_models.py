"""Fitted surrogates, one an outcome, each by a fallback of its own; a study of one outcome has a list of one.

Where the surrogates say together that a trial failed as a whole, all its values are left out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeVar

import torch

from robustbo.lazy import cached_property
from robustbo.loop.belief.judge import OutlierReports, judge
from robustbo.loop.belief.trial_failure import failure_probabilities
from robustbo.loop.observations.expectation import Expectation
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import PLAIN, fit_and_use
from robustbo.loop.surrogate.fit import evidence_on_sources, fit_to, is_robust
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials

T = TypeVar("T")

FAILED = 0.5  # probability from which on a trial counts as failed


@dataclass(frozen=True)
class OutcomeModel:
    """A fitted surrogate of one outcome, with the table of its values.

    Attributes:
        outcome: The outcome; without a name where it is the only one.
        settings: Those of the surrogate that could be fitted.
        data: All trials, as this outcome alone sees them, without the errors of their sources.
        fitted: The surrogate.
        failed: By trial, the probability that it failed as a whole, which spoils all its outcomes; see `trial_failure`.
    """

    outcome: OutcomeGoal
    settings: Settings
    data: Data
    fitted: FittedSurrogate
    failed: dict[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The name of the outcome; None where it is the only one."""
        return self.outcome.name or None

    @cached_property
    def belief(self) -> OutlierReports:
        """The belief in each told value."""
        return judge(self.data, self.fitted)

    @cached_property
    def disbelieved(self) -> frozenset[int]:
        """The trials whose values are disbelieved."""
        return self.belief.flagged if is_robust(self.settings) else frozenset()

    def expect(self, row: Row) -> Expectation | None:
        """Return what a robust surrogate expects to be told at a unit-cube row; None of another, or if not finite."""
        expectation = self.fitted.expect([row])[0] if is_robust(self.settings) else None
        return None if expectation is None else finite_expectation(expectation)

    def at_points(self) -> dict[Row, tuple[float, float]]:
        """Mean and standard deviation of the outcome at each point with a value, by unit-cube row.

        They are the surrogate's, or where the objective is surprising what the values there say.
        """
        points = self.fitted.at_points()
        return points | {row: value for row, value in self.surprises.items() if row in points}

    def predict(self, rows: Sequence[Row]) -> tuple[list[float], list[float]]:
        """Means and standard deviations of the outcome at unit-cube rows; see `at_points`."""
        predictions = zip(*self.fitted.predict(self.fitted.encoded(rows)), strict=True)
        values = [self.surprises.get(row, of_row) for row, of_row in zip(rows, predictions, strict=True)]
        return [mean for mean, _ in values], [sd for _, sd in values]

    @property
    def surprises(self) -> Mapping[Row, tuple[float, float]]:
        """The points where the objective is surprising, and what their values say of it; of a robust surrogate."""
        return self.belief.surprising if is_robust(self.settings) else {}


OutcomeModels = tuple[OutcomeModel, ...]


def finite_expectation(expectation: Expectation) -> Expectation | None:
    """An expectation; None where a number of it is not finite."""
    mean, sd, noise, _ = expectation
    return expectation if all(map(math.isfinite, (mean, sd, noise or 0.0))) else None


def unmeasured_outcomes(settings: Settings, trials: Trials) -> list[str]:
    """The names of the outcomes of which no value counts, so that nothing can be learned of them."""
    told = [*trials.having("told")]
    return [o.name for o in settings.outcomes if not any(trial.of(o.name).state == "told" for trial in told)]


def use_models(
    settings: Settings, data: Data, use: Callable[[OutcomeModels], T], fits: FitCache, *, is_judging: bool = False
) -> tuple[T | None, str | None]:
    """Return what is made of fitted surrogates, one an outcome, each the first that can be fitted.

    Where several cannot be used together, all are plain ones.

    Args:
        settings: What the run was told at its beginning.
        data: All that happened before; at least one value of each outcome has been told.
        use: What is made of them; an error that is survivable (`attempt`) says that it cannot be.
        fits: The last fits.
        is_judging: Whether each value is to be judged, so that none may be left out.

    Returns:
        What it made, None if nothing could be made; and, where it was not by the first surrogates, why.
    """
    plain, failures = replace(settings, surrogate=PLAIN, options="{}", committee_from=None), list[str]()
    is_alone = not settings.outcomes
    for attempted in [settings] if is_alone or settings.surrogate == PLAIN else [settings, plain]:
        result, reasons = _use_outcomes(_parts(attempted, data, fits), use, attempted, is_judging)
        if result is not None:
            return result[0], "; ".join([*failures, *reasons]) or None
        failures += reasons
    return None, failures[0] if is_alone else f"by none, since these failed: {'; '.join(failures)}"


class _Part(NamedTuple):
    """An outcome, and what it is fitted by."""

    outcome: OutcomeGoal
    settings: Settings
    data: Data
    fits: FitCache


def _parts(settings: Settings, data: Data, fits: FitCache) -> list[_Part]:
    """The outcomes of which something has been told; the only one has no name, and is all that there is."""
    if not settings.outcomes:
        return [_Part(OutcomeGoal("", settings.direction), settings, data, fits)]
    parts = [_Part(o, settings.of(o), data.of(o), fits.of(o.name)) for o in settings.outcomes]
    return _with_evidence([part for part in parts if part.data.told])  # some, where only some are judged


def _with_evidence(parts: Sequence[_Part]) -> list[_Part]:
    """The outcomes, each with what the others say of sources by their own values, before any is corrected."""
    evidence = [attempt(partial(evidence_on_sources, *part[1:]), part.settings.surrogate)[0] or () for part in parts]
    beside = [(*evidence[:i], *evidence[i + 1 :]) for i in range(len(parts))]
    return [part._replace(data=replace(part.data, other_outcomes=of)) for part, of in zip(parts, beside, strict=True)]


def _use_outcomes(
    parts: Sequence[_Part], use: Callable[[OutcomeModels], T], settings: Settings, is_judging: bool
) -> tuple[tuple[T] | None, list[str]]:
    """Return what is made of the models of all outcomes, and why any is not by the first surrogate.

    The only one is used as soon as it is fitted, so that the next surrogate is fitted where it cannot be.
    """
    models, reasons = list[OutcomeModel](), list[str]()
    for outcome, own, table, fits in parts:
        make = partial(_use_outcome, outcome, table, use if not settings.outcomes else None)
        model_and_result, reason = fit_and_use(own, table, make, fits, is_judging=is_judging)
        if reason is not None:
            reasons.append(f"{outcome.name}: {reason}" if outcome.name else reason)
        if model_and_result is None:
            return None, reasons
        model, result = model_and_result
        if result is not None:
            return result, reasons
        models.append(model)
    together = _leave_out_failed_trials(models, [part.fits for part in parts]) if settings.quarantine else tuple(models)
    result, error = attempt(lambda: (use(together),), *(model.settings.surrogate for model in together))
    return result, reasons if error is None else [*reasons, f"{settings.surrogate}: {error}"]


def _use_outcome(
    outcome: OutcomeGoal,
    table: Data,
    use: Callable[[OutcomeModels], T] | None,
    settings: Settings,
    fitted: FittedSurrogate,
) -> tuple[OutcomeModel, tuple[T] | None]:
    """The model of an outcome, and what is made of it alone where there is no other."""
    model = OutcomeModel(outcome, settings, table.with_correction(fitted.observations.correction), fitted)
    return model, None if use is None else (use((model,)),)


def _leave_out_failed_trials(models: Sequence[OutcomeModel], fits: Sequence[FitCache]) -> OutcomeModels:
    """The models with trials that have probably failed as a whole left out of every outcome's fit."""
    p = _failure_probabilities(models)
    if not p:
        return tuple(models)
    numbers = {number for number, probability in p.items() if probability > FAILED}
    refitted = []
    for model, own_fits in zip(models, fits, strict=True):
        modelled = {trial.number for trial in model.data.told} - {*model.fitted.quarantined}
        if model.fitted.probability_wrong is not None and (failed := (numbers & modelled) - model.belief.flagged):
            refit = partial(fit_to, model.settings, model.data, own_fits, sorted(failed))
            fitted, _ = attempt(refit, model.settings.surrogate)
            if fitted is not None:  # or it stays as it is
                model = replace(model, fitted=replace(fitted, sources=model.fitted.sources))
        model.failed.update(p)  # in place: what it believes is kept
        refitted.append(model)
    return tuple(refitted)


def _failure_probabilities(models: Sequence[OutcomeModel]) -> dict[int, float]:
    """Probabilities, by trial, that it failed as a whole, by what each outcome says of its value alone."""
    sampled = [model for model in models if model.fitted.probability_wrong is not None]
    wrong = [{report.trial.number: report.probability_wrong for report in model.belief} for model in sampled]
    rates = [model.fitted.prior_rate(len(model.data.told)) for model in sampled]
    if len(wrong) < 2:
        return {}
    numbers = sorted(set().union(*wrong))
    q = torch.tensor([[of.get(number, math.nan) for of in wrong] for number in numbers], dtype=torch.float64)
    rate = torch.tensor(rates, dtype=torch.float64)
    return dict(zip(numbers, failure_probabilities(q, rate).tolist(), strict=True))


def rows_with_values(models: Sequence[OutcomeModel]) -> list[Row]:
    """The rows at which any outcome has a value that its surrogate was fitted to, each once, in the order of trials."""
    numbers = sorted({number for model in models for number in model.fitted.observations.numbers})
    return list(dict.fromkeys(models[0].data.rows[number] for number in numbers))


def unknown_rows(data: Data, models: Sequence[OutcomeModel]) -> list[Row]:
    """The rows of pending trials, of those withdrawn since the last value, and of those whose value a surrogate lacks.

    Without the withdrawn ones, the next ask would be of the same place.
    """
    last = max((t.order for t in data.told if t.order is not None), default=-1)
    lately = [t.number for t in data.withdrawn if t.order is not None and t.order > last]
    quarantined = dict.fromkeys(number for model in models for number in model.fitted.quarantined)
    return data.rows_of([*(trial.number for trial in data.pending), *lately, *sorted(quarantined)])
