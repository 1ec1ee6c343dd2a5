"""Recompute a recorded cell from its seed and compare bit for bit: every ask, value, recommendation and flag."""

from typing import Any

from robustbo.errors import ReplayMismatch
from robustbo.history import History
from robustbo.journal import read
from robustbo.record import changed_versions, fold
from robustbo.replay.cell import Cell, flags, measure, recommend, recorded, settings, told_value
from robustbo.suggest import step


def verify(cell: Cell) -> int:
    """Recompute a recorded cell.

    Returns:
        The number of asks that were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference; says where it is, both values, and which libraries have changed.
        JournalError: If the record is damaged.
    """
    contents = read(cell.journal)
    told, whole = fold(cell.journal, contents)
    differing = changed_versions(contents)
    _same(cell, "settings", told.to_dict(), settings(cell).to_dict(), differing)
    history, count = History(), 0
    for event in contents.events:
        if event["event"] == "ask":
            made = step(settings(cell), history, event["trial"])
            _same(cell, f"trial {event['trial']}: ask", event["params"], made.params, differing)
            count += 1
        history = history.apply(event)
    _verify_truth(cell, whole, differing)
    return count


def _verify_truth(cell: Cell, history: History, differing: str) -> None:
    entries, flagged = recorded(cell)
    problem, corruption = cell.spec.load_problem(), cell.spec.build_corruption()
    for number, entry in enumerate(entries):
        where, params = f"trial {number}", history[number].params
        clean = problem(params)
        value, is_corrupted = measure(cell, corruption, params, number, clean)
        _same(cell, f"{where}: clean value", entry["clean"], clean, differing)
        _same(cell, f"{where}: measured value", entry["value"], value, differing)
        _same(cell, f"{where}: corrupted", entry["corrupted"], is_corrupted, differing)
        _same(cell, f"{where}: told value", history[number].value, told_value(cell, clean, value), differing)
        _same(cell, f"{where}: recommended", entry["recommended"], recommend(cell, history, number), differing)
    if flagged is not None:
        _same(cell, "flags", flagged, flags(cell, history), differing)


def _same(cell: Cell, what: str, recorded_value: Any, recomputed: Any, differing: str) -> None:
    if recorded_value != recomputed:
        hint = (
            f"libraries have changed: {differing}"
            if differing
            else "the libraries are the same: another processor, perhaps"
        )
        raise ReplayMismatch(
            f"{cell.method}, replication {cell.replication}, {what}: "
            f"recorded {recorded_value!r}, recomputed {recomputed!r} ({hint})"
        )
