"""Beliefs about what was recorded: each value, patterns of those that look wrong, and what measured them."""

from __future__ import annotations

from typing import NamedTuple

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.surrogate.attempt import attempt
from robustbo.report.page.sources_section import SourcesSection, sources_section
from robustbo.report.summary.overview import overview
from robustbo.report.summary.sources import has_sources
from robustbo.report.summary.text_evidence import STATUSES, evidence_text, interval_text
from robustbo.serve.rows import place_text
from robustbo.serve.served import stamp
from robustbo.trials.history import Trial
from robustbo.trials.identity import in_a_line
from robustbo.trials.outcome import Outcome
from robustbo.trials.sources import source_text
from robustbo.view.view import View

NATS = "evidence, nats"  # a column of reports, which says nothing to whoever knows no statistics
Errors = dict[tuple[int, str | None], list[str]]  # by trial and outcome, what is wrong with whatever measured it


class BeliefRow(NamedTuple):
    """A value and what is believed of it.

    Attributes:
        trial: The trial.
        outcome: Which of several outcomes; None where there is one.
        name: What was measured.
        value: It, with its unit.
        interval: What the others predict; empty where that is not known.
        wrong: How probable it is that it is wrong, in percent.
        status: What is believed, in words.
        sentence: The evidence.
        is_doubtful: Whether somebody should look.
        stamp: The trial's stamp.
        place: Its parameters in a line.
        source: What measured it.
        errors: What is believed of that source, or of everything since then, where that is in doubt.
    """

    trial: Trial
    outcome: str | None
    name: str
    value: str
    interval: str
    wrong: str
    status: str
    sentence: str
    is_doubtful: bool
    stamp: str
    place: str
    source: str
    errors: str = ""


class Belief(NamedTuple):
    """The belief in all values.

    Attributes:
        rows: A row a value, the most doubtful first.
        patterns: Sentences on values that look wrong together.
        sources: What measured them, and its errors; None where nobody told a source.
    """

    rows: list[BeliefRow]
    patterns: list[str]
    sources: SourcesSection | None


def belief(view: View) -> Belief:
    """The belief in all values.

    Raises:
        FitError: If no surrogate can judge them.
    """
    patterns, sources = [f"{pattern}" for pattern in view.flag_patterns()], sources_section(view, overview(view))
    if sources is not None and sources.table is not None:
        sources = sources._replace(table=sources.table.without(NATS))
    return Belief(belief_rows(view), patterns, sources)


def belief_rows(view: View) -> list[BeliefRow]:
    """Each value that was recorded, the most doubtful first, and below them what counts for nothing.

    Raises:
        FitError: If no surrogate can judge them.
    """
    judged, settings = view.outliers(), view.settings
    counts: dict[str | None, int] = {}
    for outlier in judged:
        counts[outlier.outcome] = counts.get(outlier.outcome, 0) + 1
    errors = _errors_by_trial(view)
    rows = [_belief_row(outlier, counts[outlier.outcome] - 1, errors) for outlier in judged]
    listed = {(row.trial.number, row.outcome) for row in rows}
    for trial in view.history:
        for name in trial.outcomes or (None,):
            alone = trial if name is None else trial.of(name)
            if (
                alone.state in ("excluded", "failed")
                and trial.state != "withdrawn"
                and (trial.number, name) not in listed
            ):
                rows.append(_row_without_belief(trial, alone, name, settings.quantities[name]))
    return rows


def _errors_by_trial(view: View) -> Errors:
    """Sentences on the sources in doubt, and on steps in time, by the trials and outcomes that they are of."""
    reports = attempt(view.sources, view.settings.surrogate)[0] if has_sources(view) else []
    texts: Errors = {}
    for report in reports or []:
        for number in report.trials if report.is_doubtful else ():
            texts.setdefault((number, report.outcome), []).append(report.text)
    return texts


def _belief_row(outlier: Outlier, num_others: int, errors: Errors) -> BeliefRow:
    trial, of = outlier.trial, outlier.quantity
    sentence = evidence_text(outlier, num_others) if num_others else "there is no other measurement yet"
    return BeliefRow(
        trial,
        outlier.outcome,
        of.name or "value",
        of.number(outlier.value, sd=outlier.sd),
        interval_text(outlier) if num_others else "",
        percent_text(outlier.probability_wrong),
        STATUSES[outlier.status],
        sentence,
        outlier.flagged,
        stamp(trial),
        place_text(trial.params),
        source_text(trial.sources),
        "; ".join(errors.get((trial.number, outlier.outcome), ())),
    )


def percent_text(probability: float) -> str:
    """A probability in percent, which is never rounded to certainty.

    Example:
        >>> percent_text(0.00063), percent_text(0.88), percent_text(0.997)
        ('0.063 %', '88 %', 'over 99 %')
    """
    return "over 99 %" if probability >= 0.995 else f"{100 * probability:.2g} %"


def _row_without_belief(trial: Trial, alone: Trial, name: str | None, of: Outcome) -> BeliefRow:
    value = "" if alone.value is None else of.number(alone.value)
    reason = in_a_line(alone.note or trial.note or trial.reason)
    place, source = place_text(trial.params), source_text(trial.sources)
    status = STATUSES.get(alone.state, alone.state)
    return BeliefRow(trial, name, of.name or "value", value, "", "", status, reason, False, stamp(trial), place, source)
