"""The charts of several outcomes: the front, its hypervolume by trial, and the values of each outcome by trial."""

from collections.abc import Sequence

from robustbo.report.charts import fronts, one_outcome
from robustbo.report.charts.chart import Chart
from robustbo.report.charts.one_outcome import SingleOutcome, single_outcomes
from robustbo.view.view import View

ACROSS = 3  # charts beside each other


def has_front(view: View) -> bool:
    """Return whether there are several objectives, and a value of each outcome."""
    return len(view.settings.objectives) > 1 and view.is_measured


def front_charts(view: View, singles: Sequence[SingleOutcome]) -> list[Chart]:
    """A chart for each pair of objectives; none where there is no front.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    judged = [outlier for single in singles for outlier in single.judged]
    return fronts.charts(view.settings, view.credible_points(), view.front(), judged) if has_front(view) else []


def timelines(view: View, singles: Sequence[SingleOutcome]) -> list[Chart]:
    """A chart an outcome of its values by trial; with the best so far, where one alone is to be optimized.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    points = view.credible_points() if view.is_measured else ()
    best = view.bests() if view.is_measured and len(view.settings.objectives) == 1 else []
    return [one_outcome.values(single, points, best if single.outcome.is_objective else ()) for single in singles]


def rows(view: View) -> list[list[Chart]]:
    """All charts, for a picture.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    singles = single_outcomes(view)
    pairs = front_charts(view, singles)
    progress = [[fronts.progress(view.hypervolumes())]] if pairs else []
    front_rows = [pairs[i : i + ACROSS] for i in range(0, len(pairs), ACROSS)]
    return [*front_rows, *progress, *([chart] for chart in timelines(view, singles))]
