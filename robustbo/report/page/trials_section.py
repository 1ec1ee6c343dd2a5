"""A page's table of all trials: what was asked, what was measured and expected, and what is believed of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from robustbo.loop.belief.judge import Outlier
from robustbo.report.charts.marks import BEFORE, count_before
from robustbo.report.page.html import part, table
from robustbo.report.summary.text_outcomes import short
from robustbo.trials.extent import space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings
from robustbo.trials.trial import in_a_line

FULL = 300  # trials that are all shown
LAST = 100  # of more, the last, beside the doubtful ones
LONGEST = 90  # letters of a note
STATES = {"pending": "being measured", "queued": "waiting", "failed": "failed", "excluded": "excluded"}


def section(settings: Settings, history: History, judged: Sequence[Outlier], found: dict[str, Any]) -> str:
    """The part; nothing where there is no trial.

    Args:
        settings: What the optimization was told at its beginning.
        history: What has happened in it.
        judged: All told values, with whether they are believed.
        found: Its overview.
    """
    if not len(history):
        return ""
    doubtful = {o["trial"] for o in found["outliers"]}
    shown, text = chosen(history, doubtful)
    said = {(o.trial.number, o.outcome): o for o in judged}
    names, quantities = space_of(settings, history).names, settings.quantities
    header = ["trial", *names, *(title for name, of in quantities.items() for title in _titles(name, of)), "note"]
    old = count_before(history)
    rows = []
    for trial in shown:
        cells = [cell for name in quantities for cell in _cells(trial, name, said.get((trial.number, name)))]
        place = [short(trial.params[name]) if name in trial.params else "-" for name in names]
        rows.append([trial.number, *place, *cells, _note(trial, is_old=trial.number < old)])
    return part("All trials", text + table(header, rows), is_wide=True)


def chosen(history: History, doubtful: Collection[int]) -> tuple[Sequence[Trial], str]:
    """The trials that the table has, and a paragraph on that: all, or of very many the last and the doubtful ones."""
    if len(history) <= FULL:
        return history.trials, ""
    last = history.trials[-LAST:]
    earlier = [trial for trial in history.trials[:-LAST] if trial.number in doubtful]
    more = f", and the {len(earlier)} before them whose values are doubtful" if earlier else ""
    more = ", and the one before them whose value is doubtful" if len(earlier) == 1 else more
    return [*earlier, *last], f"<p>Of {len(history)} trials these are the last {LAST}{more}.</p>"


def _titles(name: str | None, of: Outcome) -> list[str]:
    """The columns of an outcome."""
    after = "" if name is None else f", {name}"
    return [of.label, f"expected{after}", f"status{after}", f"probability wrong{after}"]


def _cells(trial: Trial, name: str | None, o: Outlier | None) -> list[str]:
    """What is known of a value, in the cells of an outcome."""
    alone = trial if name is None else trial.of(name)
    value = "" if alone.value is None or alone.state == "failed" else f"{alone.value:.6g}"
    if o is not None:
        return [value, f"{o.expected:.4g} (sd {o.sd:.2g})", o.status, f"{o.probability_wrong:.2g}"]
    is_missing = alone.state == "failed" and trial.state != "failed"
    return [value, "", "not measured" if is_missing else STATES.get(alone.state, alone.state), ""]


def _note(trial: Trial, *, is_old: bool) -> str:
    """What else there is to say of a trial."""
    reason = in_a_line(trial.reason)
    if trial.repeats is not None:
        reason = f"trial {trial.repeats} again" + (f": {reason}" if trial.state == "failed" and reason else "")
    outcomes: Mapping[str, Any] = trial.outcomes
    notes = [BEFORE if is_old else "", reason, trial.note or ""]
    notes += [f"{name}: {each.note}" for name, each in outcomes.items() if each.note]
    text = "; ".join(in_a_line(note) for note in notes if note)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
