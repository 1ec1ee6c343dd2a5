"""Runs that specs in runs/ describe: recorded a replication of all before the next one, and their rows kept.

What is recorded depends on the specs alone, and is what `robustbo replay` records: either goes on where the other
stopped. `keep` writes rows and summary beside the specs. What was kept of other methods stays, since a machine may
record some methods alone; methods with too few replications to decide anything are left out, and go.

    python -m benchmarks.common.replays record --work W --replications 0:12 --runs spaces-pool --methods standard
    python -m benchmarks.common.replays keep --work W --out runs --runs spaces-pool
"""

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common import recording
from benchmarks.common.commands import Commands, add_least
from benchmarks.common.paths import RUNS
from benchmarks.common.tables import with_enough
from robustbo.replay.cells.cell import CELLS, Cell
from robustbo.replay.kinds import kind_of, read_cells, rows_of
from robustbo.replay.output.report import ROWS, SUMMARY, rows_file, rows_in, rows_text
from robustbo.replay.spec import reading
from robustbo.replay.spec.reading import AnySpec

NAMES = tuple(sorted(path.stem for path in RUNS.glob("*.toml")))
METHOD = ("method",)  # what is replicated


def cells(options: argparse.Namespace) -> Iterator[Cell]:
    """Cells to record: a replication of every run and method before the next one."""
    specs = {name: reading.load(RUNS / f"{name}.toml") for name in options.runs}
    for replication in options.replications:
        for name, spec in specs.items():
            for method in spec.methods:
                if not options.methods or method in options.methods:
                    yield kind_of(spec).cell.of(spec, method, replication, options.work / name)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    recording.record(cells(options), options.jobs)


def keep(options: argparse.Namespace) -> None:
    """Write rows and summary of each run: those of cells that are done, and what is kept of the other methods."""
    for name in options.runs:
        spec, folder = reading.load(RUNS / f"{name}.toml"), options.out / name
        new = with_enough(_rows_of_work(options.work / name, spec), METHOD, options.least)
        path = rows_file(folder)
        old = rows_in(path) if path else pd.DataFrame({"method": []})
        of_others = with_enough(old[~old["method"].isin(new["method"])], METHOD, options.least)
        rows = pd.concat([part for part in (new, of_others) if len(part)] or [new])
        if rows.empty:
            continue
        tables = kind_of(spec).tables(rows.sort_values(["method", "replication"], kind="stable"), spec)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{ROWS}.gz").write_bytes(gzip.compress(rows_text(tables.rows).encode(), mtime=0))
        tables.summary.to_csv(folder / SUMMARY, index=False)
        print(f"{folder}: recorded {', '.join(new['method'].unique()) or 'nothing'}")


def _rows_of_work(work: Path, spec: AnySpec) -> pd.DataFrame:
    """Rows of the cells of a folder that are done, of methods that the spec has."""
    cells = read_cells(work) if (work / CELLS).is_dir() else []
    mine = [kind_of(spec).cell.of(spec, c.method, c.replication, work) for c in cells if c.method in spec.methods]
    finished = [cell for cell in mine if len(cell.entries()) >= spec.trials]
    return rows_of(finished) if finished else pd.DataFrame({"method": []})


def add_steps(commands: Commands, names: Sequence[str]) -> None:
    """Add the steps `record` and `keep` for runs, all of those named unless said."""
    named: dict[str, Any] = {"nargs": "+", "choices": names, "default": list(names)}
    record_parser = commands.add_record(record, replications=8)
    record_parser.add_argument("--runs", **named)
    record_parser.add_argument("--methods", nargs="+", default=[])
    keep_parser = commands.add_keep(keep, RUNS)
    keep_parser.add_argument("--runs", **named)
    add_least(keep_parser)


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or keep rows."""
    commands = Commands(__doc__)
    add_steps(commands, NAMES)
    commands.run(arguments)


if __name__ == "__main__":
    main()
