"""The sources of measurements, and which is in error, by the surrogates of the outcomes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.observations.source_labels import source_labels
from robustbo.loop.observations.table import observations
from robustbo.loop.sources.source_report import SourceReport, source_reports
from robustbo.loop.sources.unjudged_sources import reports_without_belief
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

__all__ = ["SourceReport", "sources"]


@pin_surroundings
def sources(settings: Settings, history: History, fits: FitCache | None = None) -> list[SourceReport]:
    """Every source that was told, and everything since a trial where that is in error: the most probable error first.

    Of several outcomes each has reports of its own. Where nobody told a source there are none, and nothing is fitted.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    data, fits = observations(settings, history), FitCache() if fits is None else fits
    if source_labels(data.trials, [t.number for t in data.told], data.auxiliary.kinds) is None:
        words = source_reports([], [], data.trials, history.verdicts)
        return [*words, *reports_without_belief(history.trials, words, declared=data.auxiliary.kinds)]
    reports, reason = use_models(settings, data, partial(_reports, settings, history), fits, is_judging=True)
    if reports is None:
        raise FitError(f"no surrogate could judge the sources {reason}")
    return reports


def _reports(settings: Settings, history: History, models: OutcomeModels) -> list[SourceReport]:
    quantities, reports = settings.quantities, list[SourceReport]()
    for model in models:
        errors = model.fitted.source_errors
        numbers, quantity = model.fitted.observations.numbers, quantities[model.name]
        own = source_reports(errors, numbers, history.trials, history.verdicts, model.name, quantity)
        kinds = model.data.auxiliary.kinds
        reports += [*own, *reports_without_belief(history.trials, own, model.name, quantity, kinds)]
    return [_with_other_outcomes(report, reports) for report in reports]


def _with_other_outcomes(report: SourceReport, reports: Sequence[SourceReport]) -> SourceReport:
    """A report that a source is in doubt, with the other outcomes in which it is, too."""
    if not report.is_doubtful:
        return report
    alike = [r for r in reports if r.is_doubtful and (r.source, r.level) == (report.source, report.level)]
    names = dict.fromkeys(r.quantity.name or r.outcome for r in alike if r.outcome != report.outcome)
    return replace(report, also=tuple(filter(None, names)))
