"""The warning that a source of measurements is in error, once for each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from robustbo.errors import FitError, SourceWarning, warn

if TYPE_CHECKING:
    from robustbo.study.study import Study
    from robustbo.view.view import View


def warn_of_sources(study: Study, view: View) -> None:
    """Say so where a source is more probably in error than not, and was not when it was last said.

    Of a source that measured one region it is said that nobody can tell; not of everything since a trial: an
    optimization moves on, and what it measures later nearly always lies elsewhere.

    Args:
        study: What it has been said of before.
        view: The study as the ask saw it.
    """
    if not any(trial.sources for trial in view.history):
        return
    with suppress(FitError):  # which the ask has met, too, and says in `Trial.fallback`
        reports = [report for report in view.sources() if report.is_doubtful]
        doubtful = [report for report in reports if report.level is not None or report.status == "in doubt"]
        new = [report for report in doubtful if (report.outcome, report.name) not in study._doubted_sources]
        study._doubted_sources = {(report.outcome, report.name) for report in doubtful}
        for report in new:
            warn(f"{report.text}; see `sources`", SourceWarning)
