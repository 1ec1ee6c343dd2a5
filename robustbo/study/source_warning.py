"""The warning that a source of measurements is in error, once for each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from robustbo.errors import FitError, SourceWarning, warn

if TYPE_CHECKING:
    from robustbo.study.study import Study


def warn_of_sources(study: Study) -> None:
    """Say so where a source is more probably in error than not, and was not when it was last said.

    Of a source that measured one region it is said that nobody can tell; not of everything since a trial: an
    optimization moves on, and what it measures later nearly always lies elsewhere.
    """
    if not any(trial.sources for trial in study.history):
        return
    with suppress(FitError):  # which the ask has met, too, and says in `Trial.fallback`
        reports = [report for report in study.view.sources() if report.is_doubtful]
        doubtful = [report for report in reports if report.level is not None or report.status == "in doubt"]
        new = [report for report in doubtful if (report.outcome, report.name) not in study._doubted_sources]
        study._doubted_sources = {(report.outcome, report.name) for report in doubtful}
        for report in new:
            warn(f"{report.text}; see `sources`", SourceWarning)
