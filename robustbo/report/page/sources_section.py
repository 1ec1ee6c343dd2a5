"""A page's section on the sources of measurements: what is wrong with which, and the residuals of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from robustbo.censored import is_bound
from robustbo.loop.sources.source_report import SourceReport
from robustbo.report.charts.chart import Chart
from robustbo.report.charts.sources import residual_chart
from robustbo.report.page.attempts import Attempt
from robustbo.report.page.table import Table
from robustbo.report.summary import text_sources
from robustbo.trials.history import Trial
from robustbo.view.view import View


class SourcesSection(NamedTuple):
    """The section.

    Attributes:
        sentences: On each source in doubt, and on each word of people.
        reason: Why nothing could be computed; None where it could.
        table: A row a source; None without any.
        charts: The residuals by each kind of source, of each outcome, under their titles; or why there are none.
    """

    sentences: Sequence[str]
    reason: str | None
    table: Table | None
    charts: Attempt | None


def sources_section(view: View, overview: dict[str, Any]) -> SourcesSection | None:
    """The section; None where nobody told a source."""
    if "sources" not in overview:
        return None
    rows, reason = text_sources.rows(overview), overview.get("not_computed", {}).get("sources")
    table = Table([*rows[0]], [[*row.values()] for row in rows]) if rows else None
    has_values = view.is_measured and reason is None
    charts = Attempt.of(view, lambda: residual_charts(view)) if has_values else None
    return SourcesSection(text_sources.lines(overview), reason, table, charts)


def residual_charts(view: View) -> dict[str, Chart]:
    """The residuals by each kind of source, of each outcome, by their titles.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    settings, reports, charts = view.settings, view.sources(), dict[str, Chart]()
    trials = [trial for trial in view.history if trial.state == "told"]
    posteriors = view.posteriors([view.space.to_unit(trial.params) for trial in trials])
    for name, (means, _) in posteriors.items():
        of = [trial if name is None else trial.of(name) for trial in trials]
        expected = dict(zip((trial.number for trial in of), means, strict=True))
        counted = [trial for trial in of if trial.state == "told" and not is_bound(trial.measured)]
        residuals = {trial.number: trial.measured - expected[trial.number] for trial in counted}
        own = [report for report in reports if report.outcome == name]
        for kind in _kinds(counted, own):
            title = f"{name}, by {kind or 'time'}" if name else f"By {kind or 'time'}"
            charts[title] = residual_chart(kind, counted, residuals, own, settings.quantities[name])
    return charts


def _kinds(trials: Sequence[Trial], reports: Sequence[SourceReport]) -> list[str]:
    """The kinds of source that trials have, and "" where everything is in doubt since one of them, and no kind is."""
    kinds = sorted({kind for trial in trials for kind in trial.sources})
    return kinds or ([""] if any(report.is_doubtful for report in reports) else [])
