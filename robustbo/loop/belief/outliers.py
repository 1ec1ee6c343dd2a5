"""The values that look wrong, and why, by the first surrogate that can judge them."""

from dataclasses import replace
from functools import partial

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.judge import Outlier, suspicion_order
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.observations.correction import SourceCorrection
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

__all__ = ["Outlier", "outliers"]


@pin_surroundings
def outliers(settings: Settings, history: History, fits: FitCache | None = None) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence.

    Of several outcomes each value is judged by its own surrogate; all of them are in one list.
    """
    data, fits = observations(settings, history), FitCache() if fits is None else fits
    if not data.told:
        return []
    reports, reason = use_models(settings, data, partial(_reports, data), fits, is_judging=True)
    if reports is None:
        raise FitError(f"no surrogate could judge these values {reason}")
    quantities = settings.quantities
    return [report.of(quantities[report.outcome]) for report in reports]


def _reports(data: Data, models: OutcomeModels) -> list[Outlier]:
    reports = []
    for model in models:
        for report in model.belief:
            trial = data.trials[report.trial.number]
            report = replace(report, trial=trial, outcome=model.name, failed=model.failed.get(trial.number))
            reports.append(_as_measured(report, model.data.correction))
    return sorted(reports, key=suspicion_order)


def _as_measured(report: Outlier, correction: SourceCorrection | None) -> Outlier:
    """The report on a value as it was told: what is expected of it has the error of its source."""
    if correction is None:
        return report
    (error,) = correction.error_of([report.trial.number])
    told = report.trial if report.outcome is None else report.trial.of(report.outcome)
    return replace(report, value=told.measured, expected=report.expected + error)
