"""Real measurements with real repeats: what robustness and measuring again are worth where nothing was corrupted by us.

Two tables (runs/repeats-*.toml): a trial measures one of the values that were really measured at its point, and the
true value is their median. `record` runs the loop, a replication of all methods before the next one, and `detect` fits
the surrogates to values at points drawn without a loop; what is there is kept, and the same command goes on. `keep`
writes rows of all that is done, and `tables` puts what they show into runs/repeats/tables.md.

    python -m benchmarks.repeats.run record --work W --replications 0:20 --jobs 2
    python -m benchmarks.repeats.run detect --work W --replications 0:20 --jobs 2
    python -m benchmarks.repeats.run keep --work W --out runs/repeats
    python -m benchmarks.repeats.run tables --rows runs/repeats --page runs/repeats/tables.md

What is called wrong is defined in benchmarks/repeats/reports.py, the scores in benchmarks/repeats/scores.py.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import pages, recording
from benchmarks.common.commands import Commands, add_jobs
from benchmarks.common.paths import RUNS
from benchmarks.common.provenance import commit, note, notes
from benchmarks.repeats.detection import detect, draws, read_rows, write_table
from benchmarks.repeats.reports import describe_data, repeats_of, report_table
from benchmarks.repeats.tables import AFTER, SHARES, texts
from robustbo.errors import FitError
from robustbo.loop.belief.outliers import outliers
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute.work import CellFailure
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec
from robustbo.trials.codec import fold
from robustbo.trials.history import History
from robustbo.trials.storage.reading import read

PROBLEMS = ("crossed-barrel", "hplc")
LIBRARIES = {"optuna-gp": ["optuna"], "optuna-tpe": ["optuna"], "ax-default": ["ax-platform"]}  # which methods need
MOST = range(1000)  # replications or draws that are looked for


def spec(problem: str, overrides: Sequence[str]) -> RunSpec:
    """The run of a data set."""
    run_spec = reading.load(RUNS / f"repeats-{problem}.toml", overrides)
    assert isinstance(run_spec, RunSpec)
    return run_spec


def cells(options: argparse.Namespace) -> Iterator[OptimizationCell]:
    """Cells to record: a replication of all before the next one."""
    specs = {problem: spec(problem, options.set) for problem in options.problems}
    every = dict.fromkeys(name for run_spec in specs.values() for name in run_spec.methods)
    for name in options.methods or []:
        if name not in every:
            raise SystemExit(f"--methods must be of {', '.join(every)}, got {name}")
    for replication, method, problem in product(options.replications, options.methods or every, options.problems):
        yield OptimizationCell.of(specs[problem], method, replication, options.work / problem)


def is_judge(cell: OptimizationCell) -> bool:
    """Return whether a cell's method says of each measured value how far it believes it."""
    return cell.is_ours and cell.how.sees == "measured" and cell.how.acquisition != "sobol"


def file_of(cell: OptimizationCell) -> Path:
    """File of the reports at the end of a cell."""
    return cell.folder / "values" / f"{cell.method}-{cell.replication}.csv"


def note_of(cell: OptimizationCell) -> Path:
    """File that notes by which code a cell was recorded; it is there when all of it is."""
    return cell.folder / "notes" / f"{cell.method}-{cell.replication}.json"


def record_cell(cell: OptimizationCell, commit: str) -> tuple[str, CellFailure | None]:
    """Run a cell, and keep what its surrogate says in the end."""
    started = time.process_time()
    path, failure = recording.run_cell(cell)
    if failure is not None or note_of(cell).exists():
        return path, failure
    if is_judge(cell):
        try:
            reports = outliers(cell.settings, history_of(cell))
        except FitError as error:
            return path, CellFailure(cell.method, cell.replication, f"what looks wrong in the end: {error}")
        write_table(report_table(cell.spec.load_problem(), reports), file_of(cell))
    note(note_of(cell), commit, time.process_time() - started, LIBRARIES.get(cell.method, []))
    return path, None


def history_of(cell: OptimizationCell) -> History:
    """The trials of a recorded cell."""
    return fold(cell.journal, read(cell.journal))[1]


def loop_row(cell: OptimizationCell) -> dict[str, Any]:
    """Row of a finished cell: regret after shares of the trials, of the recommendation and of the best point measured.

    `again` counts the trials at points that were measured before, and `nothing_new` those of them that gave a value
    once more, since the table has no other.
    """
    entries, problem = cell.entries(), cell.spec.load_problem()
    assert problem.best is not None
    sign = 1.0 if problem.maximizes else -1.0
    lacks = [sign * (problem.best[1] - entry["clean"]) for entry in entries]
    row: dict[str, Any] = {"data": cell.problem, "method": cell.method, "replication": cell.replication}
    last = [round(share * cell.spec.trials) for share in SHARES]
    recommendations = [entries[n - 1]["recommended"] for n in last]
    row |= {f"recommended {a}": np.nan if n is None else lacks[n] for a, n in zip(AFTER, recommendations, strict=True)}
    row |= {f"measured {a}": min(lacks[:n]) for a, n in zip(AFTER, last, strict=True)}
    return row | count_replicates(cell) | {"flagged": len(cell.flags() or [])}


def count_replicates(cell: OptimizationCell) -> dict[str, int]:
    """Number of trials at points that were measured before, and of those that could give nothing new."""
    problem = cell.spec.load_problem()
    before: list[Any] = []
    again = nothing_new = 0
    for trial in history_of(cell).trials[: cell.spec.trials]:
        count = before.count(trial.point)
        again += count > 0
        nothing_new += count >= len(repeats_of(problem, trial.params))
        before.append(trial.point)
    return {"again": again, "nothing_new": nothing_new}


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    recording.record(cells(options), options.jobs, partial(record_cell, commit=options.commit))


def detection(options: argparse.Namespace) -> None:
    """Fit each surrogate to the draws that are not done."""
    todo = list(draws(options.problems, options.replications, options.work))
    for _ in recording.run_all(partial(detect, commit=options.commit), todo, options.jobs):
        pass


def keep(options: argparse.Namespace) -> None:
    """Write rows of all that is done, and by which code that was recorded."""
    options.methods, options.replications, options.problems = None, MOST, PROBLEMS
    finished = [cell for cell in cells(options) if note_of(cell).exists()]
    finished_draws = [draw for draw in draws(PROBLEMS, MOST, options.work) if draw.note.exists()]
    if not finished and not finished_draws:
        raise SystemExit(f"{options.work}: must be a folder in which something was recorded; nothing is")
    written_down = [({"what": "loop", "data": c.problem, "method": c.method}, note_of(c)) for c in finished]
    written_down += [({"what": "detection", "data": d.problem, "method": d.surrogate}, d.note) for d in finished_draws]
    put(notes(written_down), options.out / "about.csv")
    put(pd.DataFrame(map(describe_data, PROBLEMS)), options.out / "data.csv")
    if finished:
        put(pd.DataFrame([loop_row(cell) for cell in finished]).round(4), options.out / "loop.csv")
    for problem in PROBLEMS:
        reports = [
            pd.read_csv(file_of(c)).assign(method=c.method, replication=c.replication)
            for c in finished
            if c.problem == problem and is_judge(c)
        ]
        fits = [read_rows(draw) for draw in finished_draws if draw.problem == problem]
        for name, parts in (("values", reports), ("detection", fits)):
            if parts:
                put(pd.concat(parts, ignore_index=True), options.out / f"{name}-{problem}.csv.gz")
    print(f"{len(finished)} cells and {len(finished_draws)} fits in {options.out}")


def put(table: pd.DataFrame, file: Path) -> None:
    """Write rows into a file, the same bytes for the same rows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    how: Any = {"method": "gzip", "mtime": 0} if file.suffix == ".gz" else None
    table.to_csv(file, index=False, compression=how)


def tables(options: argparse.Namespace) -> None:
    """Put the tables between the marks of the page, or print them."""
    pages.put(options.page, texts(options.rows, PROBLEMS))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, keep rows, or print tables."""
    commands = Commands(__doc__)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    common.add_argument("--replications", type=recording.replications, default=range(20), help="or draws; first:end")
    add_jobs(common)
    common.add_argument("--commit", default=commit(), help="of this code, where git cannot say it")
    looped = argparse.ArgumentParser(add_help=False)
    looped.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the specs; see replay")
    running = commands.add("record", record, parents=[commands.work, common, looped])
    running.add_argument("--methods", nargs="+", help="all of the specs unless said")
    commands.add("detect", detection, parents=[commands.work, common])
    commands.add_keep(keep, RUNS / "repeats", parents=[looped])
    commands.add_tables(tables, "--rows", RUNS / "repeats")
    commands.run(arguments)


if __name__ == "__main__":
    main()
