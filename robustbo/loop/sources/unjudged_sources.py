"""Reports on the sources that were told and that no model judges: of too few values, or by a surrogate that cannot."""

import math
from collections.abc import Collection, Iterable, Sequence

from robustbo.censored import is_bound
from robustbo.loop.observations.source_labels import constant_kinds
from robustbo.loop.sources.source_report import NOT_JUDGED, UNNAMED, SourceReport
from robustbo.numerics.sources.atoms import FEWEST
from robustbo.trials.outcome import Outcome
from robustbo.trials.trial import Trial

TAKES_NONE = "the surrogate takes no sources; relevance-pursuit, the default, does"


def reports_without_belief(
    trials: Iterable[Trial],
    reports: Sequence[SourceReport],
    outcome: str | None = None,
    quantity: Outcome = UNNAMED,
    declared: Collection[str] = (),
) -> list[SourceReport]:
    """Reports on the sources of values of which there is none yet, by kind and label.

    Args:
        trials: All trials.
        reports: Those that there are.
        outcome: Which of several outcomes they are of.
        quantity: What is measured.
        declared: The kinds of source that are judged otherwise, by what each says of the target.
    """
    alone = [trial if outcome is None else trial.of(outcome) for trial in trials]
    ended = [trial for trial in alone if trial.state in ("told", "excluded")]
    may_err = {trial.number for trial in ended if trial.state == "told" and not (trial.is_vouched or _is_bound(trial))}
    num_all, silent = sum(trial.state == "told" for trial in ended), constant_kinds(ended)
    by_source: dict[tuple[str, str], list[Trial]] = {}
    for trial in ended:
        for source in trial.sources.items():
            by_source.setdefault(source, []).append(trial)
    reported = {(report.source, report.level) for report in reports}
    unjudged = []
    for (kind, label), own in sorted(by_source.items()):
        if kind not in (*silent, *declared) and (kind, label) not in reported:
            numbers = tuple(trial.number for trial in own)
            why = _why_not(len(may_err.intersection(numbers)), num_all)
            size = (math.nan, math.nan, None, None, math.nan, math.nan)
            unjudged.append(SourceReport(kind, label, "", *size, NOT_JUDGED, numbers, outcome, quantity, why))
    return unjudged


def _is_bound(trial: Trial) -> bool:
    return trial.value is not None and is_bound(trial.value)


def _why_not(num_own: int, num_all: int) -> str:
    """The reason why a source is not judged, by how many values it has that may be in error, and all values."""
    if min(num_own, num_all - num_own) >= FEWEST:
        return TAKES_NONE
    return f"that takes {FEWEST} values of it and {FEWEST} of others, there are {num_own} and {num_all - num_own}"
