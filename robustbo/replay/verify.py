"""Recompute a recorded run from its seed and compare bit for bit: asks, values, recommendations, flags and tables."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from robustbo.errors import ReplayMismatch, RobustBOError
from robustbo.replay import regression_cell
from robustbo.replay.cell import Cell, excludes, flags, recommend, recorded, told_value
from robustbo.replay.engine import AnyCell, cells, cells_in, trials_done
from robustbo.replay.regression_cell import RegressionCell
from robustbo.replay.report import recorded_rows, rows_of, rows_text, text_of
from robustbo.replay.spec import SPEC_FILE, load
from robustbo.suggest import step
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.history import History
from robustbo.trials.reading import read

THE_SAME = "the same, bit for bit"
UNREPEATABLE = ("event", "trial", "fit_s", "acquisition_s")  # of an ask: all that is no decision


def verdicts(runs: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Verify recorded runs: a row a cell as soon as it is done, and one a folder, which has no replication.

    Raises:
        SpecError: If a folder has no cells; before any is verified.
    """
    for run, found in [(run, cells_in(run)) for run in runs]:
        for cell in found:
            row = {"run": str(run), "method": cell.method, "replication": cell.replication}
            yield row | _verdict(verify, cell)
        yield {"run": str(run), "method": "(cells and rows)", "replication": None} | _verdict(verify_folder, run, found)


def _verdict(check: Callable[..., int | None], *arguments: Any) -> dict[str, Any]:
    try:
        return {"asks": check(*arguments), "verdict": THE_SAME}
    except RobustBOError as error:
        return {"asks": None, "verdict": str(error)}


def verify(cell: AnyCell) -> int:
    """Recompute a recorded cell, event by event.

    Returns:
        The number of asks, or fits, that were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference; says where it is, both values, and which libraries have changed.
        JournalError: If the record is damaged.
    """
    return regression_cell.verify(cell) if isinstance(cell, RegressionCell) else _verify(cell)


def _verify(cell: Cell) -> int:
    contents = read(cell.journal)
    settings, whole = fold(cell.journal, contents)
    same = _Comparison(cell, changed_versions(contents))
    entries, flagged = recorded(cell)
    same("settings", settings.to_dict(), cell.settings.to_dict())
    excluded = [trial.number for trial in whole.having("excluded")]
    same("number of told trials", len(whole.having("told")) + len(excluded), len(entries))
    same("excluded trials", excluded, [e["trial"] for e in entries if excludes(cell, e["corrupted"])])
    history, count, diagnosis = History(), 0, None
    for event, following in zip_longest(contents.events, contents.events[1:]):
        number = event["trial"]
        if event["event"] == "diagnose":
            diagnosis = event
            continue  # as far as the decision is concerned, it is made with the ask that follows
        if event["event"] == "ask" and cell.is_ours:  # what Ax proposes is not ours to repeat
            *before, ask = step(cell.settings, history, number).events(number)
            same(f"trial {number}: diagnosis", diagnosis, _as_kept(before[0]) if before else None)
            same(f"trial {number}: ask", *({k: e[k] for k in e if k not in UNREPEATABLE} for e in (event, ask)))
            history, diagnosis, count = history if diagnosis is None else history.apply(diagnosis), None, count + 1
        history = history.apply(event)
        if event["event"] == "tell":
            is_excluded = following is not None and following["event"] == "exclude"  # at once, before it is recommended
            _verify_trial(same, cell, history.apply(following) if is_excluded else history, entries[number])
    if flagged is not None and cell.is_ours:
        same("flags", flagged, flags(cell, history))
    return count


def _as_kept(event: dict[str, Any]) -> dict[str, Any]:
    """An event as it comes back from a journal."""
    return json.loads(json.dumps(event))


def _verify_trial(same: "_Comparison", cell: Cell, history: History, entry: dict[str, Any]) -> None:
    number = entry["trial"]
    trial = history[number]
    clean, corruption = cell.spec.load_problem()(trial.params), cell.spec.build_corruption()
    value, is_corrupted = cell.spec.measure(corruption, trial.params, clean, root=cell.root, number=number)
    same(f"trial {number}: clean value", entry["clean"], clean)
    same(f"trial {number}: measured value", entry["value"], value)
    same(f"trial {number}: corrupted", entry["corrupted"], is_corrupted)
    same(f"trial {number}: told value", trial.value, told_value(cell, clean, value))
    same(f"trial {number}: excluded then", trial.state == "excluded", excludes(cell, is_corrupted))
    if cell.is_ours:
        same(f"trial {number}: recommended", entry["recommended"], recommend(cell, history, number))


def verify_folder(folder: Path, found: Sequence[AnyCell]) -> None:
    """Compare what lies in a folder beside its cells: all the cells of its spec, and the rows that follow from them.

    Raises:
        ReplayMismatch: If a cell is missing, or the rows are not those of the cells.
    """
    if (folder / SPEC_FILE).exists():
        there = {(cell.method, cell.replication): trials_done(cell) for cell in found}
        spec = load(folder)
        for cell in cells(spec, folder):
            count = there.get((cell.method, cell.replication), 0)
            if count < spec.trials:
                where = f"{cell.method}, replication {cell.replication}"
                raise ReplayMismatch(f"{where}: {SPEC_FILE} asks for {spec.trials} trials, recorded are {count}")
    path = recorded_rows(folder)
    if path is not None and text_of(path) != rows_text(rows_of(found)):
        raise ReplayMismatch(f"{path}: differs from the rows of the recorded cells")


class _Comparison:
    """Raises at the first difference, with all that helps to understand it."""

    def __init__(self, cell: Cell, changed: str) -> None:
        self._where = f"{cell.method}, replication {cell.replication}"
        self._hint = f"libraries have changed: {changed}" if changed else "same libraries; another processor, perhaps"

    def __call__(self, what: str, recorded_value: Any, recomputed: Any) -> None:
        if recorded_value != recomputed:
            found = f"recorded {recorded_value!r}, recomputed {recomputed!r}"
            raise ReplayMismatch(f"{self._where}, {what}: {found} ({self._hint})")
