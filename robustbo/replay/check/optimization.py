"""A cell of an optimization run, computed once more event by event: asks, values, recommendations and flags."""

from itertools import zip_longest
from typing import Any

from robustbo.loop.cache import FitCache
from robustbo.loop.decide import step
from robustbo.replay.cells import records
from robustbo.replay.cells.optimization import (
    OptimizationCell,
    asked_before,
    excludes,
    flags,
    recommend,
    told_value,
)
from robustbo.replay.check.asks import compare
from robustbo.replay.check.comparison import Comparison
from robustbo.study.recomputing import decisions
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.history import History
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.storage.reading import warn_of_torn


def check(cell: OptimizationCell) -> int:
    """Compare a cell; returns how many asks are the same.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If the record is damaged.
    """
    contents = records.read_of_cell(cell.journal)
    for path in (cell.journal, cell.record):
        warn_of_torn(path, records.read_of_cell(path).torn, "passed over; the same `robustbo replay` records it again")
    settings, whole = fold(cell.journal, contents)
    same = Comparison(f"{cell.method}, replication {cell.replication}", changed_versions(contents))
    found, flagged = cell.entries(), cell.flagged()
    entries = {entry["trial"]: entry for entry in found}
    same("settings", settings.to_dict(), cell.settings.to_dict())
    excluded = [trial.number for trial in whole.having("excluded")]
    failed = [trial.number for trial in whole.having("failed")]
    ended = sorted([*excluded, *failed, *(trial.number for trial in whole.having("told"))])
    same("number of told trials", len(ended), len(found))
    same("told trials", ended, [entry["trial"] for entry in found])
    same("failed trials", failed, [e["trial"] for e in found if told_value(cell, e["clean"], e["value"]) is None])
    same("excluded trials", excluded, [e["trial"] for e in found if excludes(cell, e["corrupted"])])
    history, count, fits = History(), 0, FitCache()
    again = decisions(cell.settings, contents.events, decide=step, fits=fits)
    for event, following in zip_longest(contents.events, contents.events[1:]):
        is_ours = cell.is_ours and not event.get(SALVAGED)  # what Ax proposes is not ours to repeat
        if event["event"] == "ask" and is_ours:
            compare(same, next(again))
            count += 1
        history = history.apply(event)
        if event["event"] in ("tell", "fail"):
            is_excluded = following is not None and following["event"] == "exclude"  # at once, before it is recommended
            at_once = history.apply(following) if is_excluded else history
            _check_trial(same, cell, at_once, entries[event["trial"]], fits)
    if flagged is not None and cell.is_ours:
        same("flags", flagged, flags(cell, history, fits))
    return count


def _check_trial(
    same: Comparison, cell: OptimizationCell, history: History, entry: dict[str, Any], fits: FitCache
) -> None:
    number = entry["trial"]
    trial = history[number]
    clean, corruption = cell.spec.load_problem()(trial.params), cell.spec.build_corruption()
    where = {"root": cell.root, "number": number, "asked": asked_before(history, number)}
    value, is_corrupted = cell.spec.measure(corruption, trial.params, clean, **where)
    same(f"trial {number}: clean value", entry["clean"], clean)
    same(f"trial {number}: measured value", entry["value"], value)
    same(f"trial {number}: corrupted", entry["corrupted"], is_corrupted)
    same(f"trial {number}: told value", trial.value, told_value(cell, clean, value))
    same(f"trial {number}: excluded then", trial.state == "excluded", excludes(cell, is_corrupted))
    if cell.is_ours:
        same(f"trial {number}: recommended", entry["recommended"], recommend(cell, history, number, fits))
