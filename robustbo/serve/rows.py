"""Rows of the pages, as texts: what is to be measured now, and what was recorded last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from robustbo.censored import is_bound
from robustbo.rounding import format_number
from robustbo.trials.history import History, Trial
from robustbo.trials.identity import in_a_line
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings
from robustbo.trials.sources import source_text

NOBODY = "page"  # asks where nobody has said who measures
LAST = 12  # trials that were recorded last,
RECENT = 1000  # of so many that were asked for last


class WorkRow(NamedTuple):
    """A trial that is to be measured.

    Attributes:
        number: Its number.
        title: It for people.
        cells: Its parameters, as texts.
        is_waiting: Whether nobody has been given it yet.
        why: What is to be known of it: which trial it repeats, what fell back.
        by: Who measures it.
        source: Which source does, where that is known.
    """

    number: int
    title: str
    cells: list[str]
    is_waiting: bool
    why: str
    by: str
    source: str


class RecordRow(NamedTuple):
    """A trial that was recorded: its number, its parameters in a line, what is recorded, and its stamp."""

    number: int
    place: str
    result: str
    at: str


def cell_text(value: Any) -> str:
    """A value of a parameter, in digits that a balance or a valve has; a dash where it has none."""
    return "–" if value is None else format_number(value, 6) if isinstance(value, float) else str(value)  # noqa: RUF001


def place_text(params: Mapping[str, Any]) -> str:
    """A point in a line."""
    return ", ".join(f"{name} {cell_text(value)}" for name, value in params.items())


def work_rows(settings: Settings, history: History) -> list[WorkRow]:
    """The trials that are to be measured now, those that somebody has been given first."""
    names = settings.space.names
    trials = [*history.having("pending"), *history.having("queued")]
    return [_work_row(trial, names) for trial in trials]


def _work_row(trial: Trial, names: list[str]) -> WorkRow:
    again = "" if trial.repeats is None else f"trial {trial.repeats} again"
    why = [again, trial.reason or "", str(trial.labels.get("why", "")), trial.fallback or ""]
    params = trial.target_params
    cells = [cell_text(params.get(name)) for name in names]
    text = "; ".join(dict.fromkeys(in_a_line(reason) for reason in why if reason))
    is_waiting = trial.state == "queued"
    return WorkRow(
        trial.number, trial.title, cells, is_waiting, text, _name(trial.asked_by), source_text(trial.sources)
    )


def _name(asker: str | None) -> str:
    """The name of an asker for people: without the number of a process."""
    name = (asker or "").partition(":")[0]
    return "" if name == NOBODY else name


def record_rows(settings: Settings, history: History) -> list[RecordRow]:
    """The trials that were recorded last, the latest first."""
    ended = [trial for trial in history.trials[-RECENT:] if not trial.is_open and trial.told_at is not None]
    latest = sorted(ended, key=lambda trial: (trial.told_at, trial.number), reverse=True)[:LAST]
    return [RecordRow(t.number, place_text(t.params), result_text(t, settings.quantities), _clock(t)) for t in latest]


def _clock(trial: Trial) -> str:
    return "" if trial.told_at is None else trial.told_at.isoformat(timespec="seconds")


def result_text(trial: Trial, quantities: Mapping[str | None, Outcome]) -> str:
    """The record of a trial, for people."""
    values = dict[str | None, float](trial.values.items()) or ({} if trial.value is None else {None: trial.value})
    texts = values_texts(values, quantities)
    state = "" if trial.state == "told" else f"{trial.state}: {in_a_line(trial.reason)}" if not values else trial.state
    return "; ".join(part for part in (*texts, state, trial.note or "") if part)


def values_texts(values: Any, quantities: Mapping[str | None, Outcome]) -> list[str]:
    """Values with their units, of several outcomes behind their names.

    Args:
        values: By outcome, or of the only one: numbers, bounds, or such as events have them; None is nothing.
        quantities: What is measured.
    """
    by_name = values if isinstance(values, Mapping) else {} if values is None else {None: values}
    texts = []
    for name, value in by_name.items():
        of, is_text = quantities[name], isinstance(value, str) or is_bound(value)
        amount = of.with_unit(f"{value}") if is_text else of.number(float(value))
        texts.append(f"{name} {amount}" if name else amount)
    return texts
