"""A cell run by whoever has it, wherever that is: one at a time, its failures caught, its time kept."""

import csv
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from robustbo.formulas import guard_text, restore_text
from robustbo.replay.cells.cell import Cell
from robustbo.replay.cells.engine import run
from robustbo.trials.storage.whole import replace_text

DEATHS = 3  # of processes with a cell in them, that make it a failure
KILLED = f"{DEATHS} processes that ran it were killed; the same command goes on from here"
TIMINGS = "timings.csv"
COLUMNS = ("problem", "method", "replication", "trials", "seconds")


class Progress(NamedTuple):
    """One trial done: of which cell, how many so far, and the true value at the recommended point."""

    method: str
    replication: int
    trials: int
    value: float | None


class CellFailure(NamedTuple):
    """A cell that did not get to its end, and why."""

    method: str
    replication: int
    reason: str


def work(cell: Cell, notify: Callable[[Progress], None]) -> CellFailure | None:
    """Run a cell to its end, waiting for whoever has it to let go of it, and keep the time it took.

    Args:
        cell: Which one.
        notify: Called after each trial.
    """
    trials = 0

    def progress(count: int, value: float | None) -> None:
        nonlocal trials
        trials += 1
        notify(Progress(cell.method, cell.replication, count, value))

    try:
        cell.journal.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(cell.journal.with_suffix(".lock")):
            started = time.perf_counter()
            run(cell, progress)
            if trials:
                _keep(cell, trials, time.perf_counter() - started)
    except Exception as error:
        return CellFailure(cell.method, cell.replication, f"{type(error).__name__}: {error}")
    return None


def _keep(cell: Cell, trials: int, seconds: float) -> None:
    path = cell.folder / TIMINGS
    with FileLock(path.with_suffix(".lock")):
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        before = path.read_text(encoding="utf-8") if path.is_file() and not path.is_symlink() else ""
        if not before:
            writer.writerow(COLUMNS)
        writer.writerow([guard_text(cell.problem), guard_text(cell.method), cell.replication, trials, f"{seconds:.3f}"])
        replace_text(path, before + text.getvalue())


def past_seconds(problem: str, folders: list[Path]) -> dict[str, float]:
    """Seconds a trial of each method took on a problem, where runs have kept it: the mean over the folders' timings."""
    trials: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for path in (folder / TIMINGS for folder in folders):
        if not path.exists():
            continue
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            method = restore_text(row["method"])
            if restore_text(row["problem"]) == problem:
                trials[method] = trials.get(method, 0) + int(row["trials"])
                seconds[method] = seconds.get(method, 0.0) + float(row["seconds"])
    return {method: seconds[method] / count for method, count in trials.items()}
