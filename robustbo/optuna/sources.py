"""Reports on the sources of a study: old studies, and labels of its own trials."""

from dataclasses import replace

from optuna.study import Study

from robustbo.optuna.study import study_view
from robustbo.view.sources import SourceFrame, relation_frame


def sources(study: Study) -> SourceFrame:
    """A report on each source of a study with a `RobustSampler`, a row each; printed, a sentence each.

    Columns as in `robustbo.Study.sources`; the numbers of trials are those of the source's own study.

    Args:
        study: It; only read.

    Raises:
        ValueError: If its sampler has no sources, or nothing has been measured.
    """
    view, gathered = study_view(study)
    if not view.settings.sources:
        raise ValueError(f"sources must be given to the sampler, RobustSampler(sources=...), got {study.sampler}")
    at = gathered.numbers
    reports = [
        replace(report, trials=tuple(at[i] for i in report.trials), wrong=tuple(at[i] for i in report.wrong))
        for report in view.relations()
    ]
    return relation_frame(reports)
