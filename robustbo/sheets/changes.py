"""The events that filled-in rows stand for: each value is told once, and a changed one raises a question."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustbo.censored import is_bound
from robustbo.searchspace.space import Space
from robustbo.sheets.corrections import (
    TAKE,
    changed_origin,
    changed_outcomes,
    is_completed,
    noise_in,
    question_about,
    question_about_source,
    raw_measurement,
    same_value,
)
from robustbo.sheets.filled import WITHDRAWN, CellValue, FilledRow, point_in
from robustbo.sheets.places import OWN_ROW, check_place, measured_place
from robustbo.sheets.recognition import Recognition
from robustbo.study.handing import end_event, end_events
from robustbo.trials.declared import Declared, check_source_name, source_in
from robustbo.trials.history import History, Trial
from robustbo.trials.noise import ValueNoise
from robustbo.trials.source_space import own_values
from robustbo.trials.storage.line import Event

Tell = Callable[[Any, Any, Any], tuple[str, dict[str, Any]]]  # a value, sd and n as the kind and content of an event
Check = Callable[[Any], None]

AGREES = (
    "which was told before with the same point, value, noise and sources; if it is another measurement, say what "
    "measured it, in a column source.KIND, or tell it by tell"
)


@dataclass
class Changes:
    """The difference between a sheet and its journal.

    Attributes:
        events: It.
        numbers: By row, the trials of the rows without one, which are written there.
        waiting: What waits for the rest of its row, for people.
        notes: What else people should know of rows, likewise.
        errors: What stands against it all, a line each.
    """

    events: list[Event] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RowRules:
    """The rules that rows are checked by.

    Attributes:
        space: That of the study.
        decimal: What separates decimals in the sheet.
        tell: A value, its noise and how many measurements it is the mean of, as an event.
        check: Raises a ValueError of a value that may not be told.
        check_amended: The same of one in place of a value that was told.
        amends: Whether values that were told may change.
        are_measured: Whether other settings than those asked for are where a trial was measured.
        declared: The sources that the study was begun with.
    """

    space: Space
    decimal: str
    tell: Tell
    check: Check
    check_amended: Check
    amends: bool
    are_measured: bool = False
    declared: Declared = ()


def changes(history: History, rows: Sequence[FilledRow], rules: RowRules) -> Changes:
    """The events that filled-in rows stand for; none in a history that has these events already."""
    result, numbers_seen = Changes(), set[int]()
    for row in rows:
        try:
            if row.number is not None:
                event = _of_trial(history, row, row.number, rules, result, is_again=row.number in numbers_seen)
                numbers_seen.add(row.number)
                if event is not None:
                    result.events.append(event)
                    history = history.apply_all([event])
        except ValueError as error:
            result.errors.append(f"{row.label}: {error}")
    _own_rows(history, [row for row in rows if row.number is None], numbers_seen, rules, result)
    return result


def _of_trial(
    history: History, row: FilledRow, number: int, rules: RowRules, result: Changes, *, is_again: bool
) -> Event | None:
    """The event that a row of a trial is, if it is any."""
    if number >= len(history):
        raise ValueError(f"there must be a trial {number} in this study, which has {len(history)}; {OWN_ROW}")
    trial = history[number]
    place = measured_place(rules.space, rules.decimal, trial, row) if rules.are_measured and trial.is_open else {}
    if not place:
        check_place(rules.space, rules.decimal, trial, row)
    if trial.is_open or (trial.state == "withdrawn" and any(math.isfinite(v.number) for v in row.values.values())):
        if row.waits:
            result.waiting.append(_missing_values_text(f"trial {number}", row))
            return None
        kind, content = _content_of(row, rules)
        _check_possible(kind, {"source": trial.sources, **content}, rules)
        return end_event(history, kind, number, {**content, **place})
    changed = changed_outcomes(trial, row)
    origin = changed_origin(trial, row, rules.declared) if trial.state in ("told", "excluded") and not is_again else {}
    if "source" in origin and not rules.amends:
        raise ValueError(question_about_source(trial, origin["source"]))
    check_source_name(rules.declared, origin.get("source", {}))
    if not changed and (rules.amends or not origin):
        return end_event(history, "amend", number, same_value(trial) | origin) if origin else None
    if not changed:
        names = ", ".join(map(repr, origin["labels"]))
        result.notes.append(f"{row.label}: trial {number} was told with another {names}; if the cell is right, {TAKE}")
        return None
    if is_again:
        raise ValueError(f"trial {number} has several rows with different values; for a further measurement, {OWN_ROW}")
    is_addition = is_completed(trial, changed)
    if not (rules.amends or is_addition):
        raise ValueError(question_about(trial, row, changed))
    content = _amendment(trial, row, changed, rules) | origin
    if source_in(rules.declared, {**trial.sources, **origin.get("source", {})}) is None:
        (rules.check if is_addition else rules.check_amended)(content["value"])
    return end_event(history, "amend", number, content)


def _missing_values_text(subject: str, row: FilledRow) -> str:
    advice = "fill it in, or say in words why there is none"
    return f"{row.label}: {subject} waits for {', '.join(row.waits)}; {advice}"


def _content_of(row: FilledRow, rules: RowRules) -> tuple[str, Mapping[str, Any]]:
    """The kind and the content of the event that a row is which is filled in as a whole."""
    reasons = [shown.reason for shown in row.values.values() if shown.reason is not None]
    if reasons and len(reasons) == len(row.values) and all(map(WITHDRAWN.match, reasons)):
        return "withdraw", {
            "reason": "; ".join(dict.fromkeys(WITHDRAWN.sub("", why) for why in reasons)) or "withdrawn"
        }
    labels, source = {"labels": row.labels} if row.labels else {}, {"source": row.sources} if row.sources else {}
    check_source_name(rules.declared, row.sources)
    if len(reasons) == len(row.values):
        return "fail", {"reason": "; ".join(dict.fromkeys(reasons)), **(source if rules.declared else {}), **labels}
    kind, content = rules.tell(_plain(row.values), _by_outcome(row.sds), _by_outcome(row.counts))
    why = {name: of for name in content.get("lost", ()) if (of := row.values[name].reason) is not None}
    return kind, content | ({"reasons": why} if why else {}) | source | labels


def _check_possible(kind: str, content: Mapping[str, Any], rules: RowRules) -> None:
    """Raise a ValueError where a row has a value that may not be told."""
    if kind == "tell" and source_in(rules.declared, content.get("source", {})) is None:
        rules.check(content["value"])


def _plain(values: Mapping[str | None, CellValue]) -> Any:
    numbers = {name: shown.number for name, shown in values.items()}
    return numbers.get(None, numbers)


def _by_outcome(numbers: Mapping[str | None, Any]) -> Any:
    return numbers.get(None, numbers or None)


def _amendment(trial: Trial, row: FilledRow, changed: Sequence[str | None], rules: RowRules) -> dict[str, Any]:
    """The content of the event that corrects what was told.

    Raises:
        ValueError: If it was told, and is to have no value.
    """
    if any(not math.isfinite(row.values[name].number) for name in changed):
        raise ValueError(
            question_about(trial, row, [n for n in changed if row.values[n].reason is not None] or changed)
        )
    unknown = ValueNoise(None)
    before = {n: unknown if is_bound(row.values[n].number) else raw_measurement(trial, n)[1] for n in changed}
    noise = {name: noise_in(row, name, told) for name, told in before.items()}
    sds = {name: of.sd for name, of in noise.items() if of.sd is not None}
    counts = {name: of.n for name, of in noise.items() if of.n > 1}
    values = _plain({name: row.values[name] for name in changed})
    return rules.tell(values, _by_outcome(sds), _by_outcome(counts))[1]


def _own_rows(
    history: History, rows: Sequence[FilledRow], numbers_seen: set[int], rules: RowRules, result: Changes
) -> None:
    """Take in rows of somebody's own, except for those that were told already."""
    ended = [trial for trial in history if not trial.is_open and trial.number not in numbers_seen] if rows else []
    recognition, new = Recognition(ended, rules.declared), []
    for row in rows:
        try:
            point = point_in(rules.space, row.cells, rules.decimal, own_values(rules.declared, row.sources))
            if row.waits:
                result.waiting.append(_missing_values_text("its point", row))
                continue
            kind, content = _content_of(row, rules)
            if kind == "withdraw":
                raise ValueError("there is no trial to withdraw; delete the row, or give it a trial's number")
            if (number := recognition.take(point, row.sources, content)) is not None:
                result.numbers[row.row] = number
                result.notes.append(f"{row.label}: is taken for trial {number}, {AGREES}")
                continue
            _check_possible(kind, content, rules)
            new.append((row.row, (point, kind, content)))
        except ValueError as error:
            result.errors.append(f"{row.label}: {error}")
    events = end_events(history, [content for _, content in new], rules.declared)
    result.events += events
    result.numbers |= {row: event["trial"] for (row, _), event in zip(new, events, strict=True)}
