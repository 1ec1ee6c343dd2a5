"""The patterns of the flagged values of each outcome."""

from collections.abc import Sequence

from robustbo.loop.belief.flag_patterns import FlagPattern, flag_patterns
from robustbo.loop.belief.judge import Outlier
from robustbo.numerics.pursuit.penalty import RATE
from robustbo.searchspace.space import Space
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
    """The rate of errors before anything is known: that of the options, or else that of all surrogates."""
    options = settings.surrogate_options
    rate = options.get("outlier_rate") or (options.get("num_outliers") or 0) / count or RATE
    return min(float(rate), MOST)
