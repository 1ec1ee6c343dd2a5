"""A page's table of all trials: what was asked, what was measured and expected, and what is believed of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.loop.belief.judge import Outlier
from robustbo.report.charts.marks import BEFORE, count_before
from robustbo.report.page.table import Table
from robustbo.report.summary.text_outcomes import short
from robustbo.rounding import format_number
from robustbo.trials.declared import target_of
from robustbo.trials.history import History, Trial
from robustbo.trials.identity import in_a_line
from robustbo.trials.outcome import Outcome
from robustbo.trials.target import target_text
from robustbo.view.view import View

FULL = 300  # trials that are all shown
LAST = 100  # of more, the last, beside the doubtful ones
LABELS = 8  # that have a column
LONGEST = 90  # letters of a note
STATES = {
    "pending": "being measured",
    "queued": "waiting",
    "failed": "failed",
    "excluded": "excluded",
    "withdrawn": "withdrawn",
}


class TrialsSection(NamedTuple):
    """The section: a paragraph on which trials the table has, or "" where it has all; and the table."""

    note: str
    table: Table


def trials_section(view: View, judged: Sequence[Outlier], overview: dict[str, Any]) -> TrialsSection | None:
    """The section; None where there is no trial.

    Args:
        view: The optimization.
        judged: All told values, with whether they are believed.
        overview: Of the optimization.
    """
    history, names, quantities = view.history, view.space.names, view.settings.quantities
    if not len(history):
        return None
    trials, note = select_trials(history, {outlier["trial"] for outlier in overview["outliers"]})
    outliers = {(o.trial.number, o.outcome): o for o in judged}
    labels = [*dict.fromkeys(name for trial in trials for name in trial.labels)][:LABELS]
    declared, own_wrong = view.settings.sources, _wrong_by_themselves(overview)
    header = [
        "trial",
        *(["source"] if declared else []),
        *labels,
        *names,
        *(title for name, of in quantities.items() for title in _titles(name, of)),
        "note",
    ]
    num_old = count_before(history)
    rows = []
    for trial in trials:
        cells = [cell for name in quantities for cell in _cells(trial, name, outliers.get((trial.number, name)))]
        if trial.number in own_wrong:
            cells[2] = "called wrong"
        place = [short(trial.params[name]) if name in trial.params else "-" for name in names]
        labelled = [str(trial.labels.get(name, "")) for name in labels]
        source = [trial.source or target_of(declared)] if declared else []
        rows.append([trial.number, *source, *labelled, *place, *cells, _note(trial, is_old=trial.number < num_old)])
    return TrialsSection(note, Table(header, rows))


def _wrong_by_themselves(overview: Mapping[str, Any]) -> set[int]:
    """The trials of sources beside the target whose values are wrong by themselves."""
    return {number for report in overview.get("relations", ()) for number in report["wrong"]}


def select_trials(history: History, doubtful: Collection[int]) -> tuple[Sequence[Trial], str]:
    """The trials of the table, and a paragraph on that: all, or of very many the last and the doubtful ones."""
    if len(history) <= FULL:
        return history.trials, ""
    last = history.trials[-LAST:]
    earlier = [trial for trial in history.trials[:-LAST] if trial.number in doubtful]
    more = f", and the {len(earlier)} before them whose values are doubtful" if earlier else ""
    more = ", and the one before them whose value is doubtful" if len(earlier) == 1 else more
    return [*earlier, *last], f"These are the last {LAST} of {len(history)} trials{more}."


def _titles(name: str | None, of: Outcome) -> list[str]:
    """The columns of an outcome."""
    after = "" if name is None else f", {name}"
    return [of.label, f"expected{after}", f"status{after}", f"probability wrong{after}"]


def _cells(trial: Trial, name: str | None, o: Outlier | None) -> list[str]:
    """The cells of an outcome: its value, and its evidence where that is known."""
    alone = trial if name is None else trial.of(name)
    sd = None if o is None else o.sd
    value = "" if alone.value is None or alone.state == "failed" else format_number(alone.value, 6, sd)
    if o is not None:
        return [value, f"{format_number(o.expected, 4, o.sd)} (sd {o.sd:.2g})", o.status, f"{o.probability_wrong:.2g}"]
    is_missing = alone.state == "failed" and trial.state != "failed"
    return [value, "", "not measured" if is_missing else STATES.get(alone.state, alone.state), ""]


def _note(trial: Trial, *, is_old: bool) -> str:
    """The last cell of a trial: why it was asked or failed, and what people noted."""
    reason = in_a_line(trial.reason)
    if trial.repeats is not None:
        reason = f"trial {trial.repeats} again" + (f": {reason}" if trial.state == "failed" and reason else "")
    outcomes: Mapping[str, Any] = trial.outcomes
    notes = [BEFORE if is_old else "", target_text(trial), reason, trial.note or ""]
    notes += [f"{name}: {word}" for name, of in outcomes.items() for word in (of.reason, of.note) if word]
    text = "; ".join(in_a_line(note) for note in notes if note)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
