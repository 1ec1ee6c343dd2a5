"""The patterns of the flagged values of each outcome."""

from collections.abc import Sequence

from robustbo.loop.belief.flag_patterns import FlagPattern, flag_patterns
from robustbo.loop.belief.judge import Outlier
from robustbo.searchspace.space import Space
from robustbo.surrogates.common.contract import prior_rate_for
from robustbo.surrogates.registry import model_class
from robustbo.trials.settings import Settings

MOST = 0.5  # of the values: no rate beyond it would say that they are wrong


def patterns(settings: Settings, space: Space, outliers: Sequence[Outlier]) -> list[FlagPattern]:
    """The patterns of the flagged values, outcome by outcome, by the rate of errors that the study was told.

    Args:
        settings: What the run was told at its beginning.
        space: The search space.
        outliers: The reports on all values, in any order.
    """
    by_outcome: dict[str | None, list[Outlier]] = {}
    for outlier in sorted(outliers, key=lambda outlier: outlier.trial.number):
        by_outcome.setdefault(outlier.outcome, []).append(outlier)
    result = []
    for reports in by_outcome.values():
        rows = [space.to_unit(report.trial.params) for report in reports]
        result += flag_patterns(reports, rows, _rate(settings, len(reports)))
    return result


def _rate(settings: Settings, count: int) -> float:
    """The prior rate of errors among some values, as the study's surrogate has it."""
    of = settings.of_size(count)
    return min(prior_rate_for(model_class(of.surrogate), of.surrogate_options, count), MOST)
