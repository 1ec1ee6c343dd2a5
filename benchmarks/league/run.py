"""The league: our methods and other libraries on 16 problems in 18 settings, each with its defaults.

    python -m benchmarks.league.run environments --work W                 (once: an environment for each group of peers)
    python -m benchmarks.league.run plan                                  (replications and core-hours, by method)
    python -m benchmarks.league.run record --work W --jobs 2 --methods default standard random cma
    python -m benchmarks.league.run keep --work W --out runs/league
    python -m benchmarks.league.run page --rows runs/league --page docs/evidence/league.md

A cell is a replication of a method on a problem in a setting; it is recorded whole, with all points and values, into a
file of its own in W/cells, and what is there is kept, so that `record` may be stopped at any time and goes on. `keep`
writes rows.csv.gz, a cell a row, and about.csv, what it was recorded with; rows of cells that W does not have stay,
those that were recorded on another machine. `page` writes tables and a picture.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.common import recording
from benchmarks.common.commands import Commands, add_jobs, add_page
from benchmarks.common.provenance import commit, origins
from benchmarks.league import cells, environments, page, plan, scores
from benchmarks.league.cells import Cell

ORIGIN = ["method", "commit", "processor", "versions", "peer"]


def plan_cells(options: argparse.Namespace) -> Iterator[Cell]:
    """Cells of the plan, in its order."""
    keys = plan.order(options.replications, options.methods, options.problems, options.settings, options.part)
    for key in keys:
        yield Cell(options.work, *key, commit=options.commit, trials=options.trials)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done, and say of each cell what it took, or why it failed."""
    todo = {cell.alike.file: cell.alike for cell in plan_cells(options) if not cell.alike.file.exists()}
    for cell, seconds, failure in recording.run_all(cells.record, todo.values(), options.jobs):
        print(f"{cell.method}/{cell.file.name}: {failure or f'{seconds:.1f} s'}", flush=True)


def keep(options: argparse.Namespace) -> None:
    """Write a row a cell that is recorded, in place of an earlier one, and what all rows were recorded with."""
    rows = [scores.row(cell, entry) for cell in plan_cells(options) if (entry := cell.entry()) is not None]
    if not rows:
        raise SystemExit(f"nothing is recorded in {options.work}")
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / scores.ROWS
    earlier = [pd.read_csv(file, keep_default_na=False, dtype={"commit": str})] if file.exists() else []
    table = pd.concat([pd.DataFrame(rows), *earlier]).drop_duplicates(scores.KEY).sort_values(scores.KEY)
    table.to_csv(file, index=False, compression={"method": "gzip", "mtime": 0})
    _origins(table).to_csv(options.out / "about.csv", index=False)
    print(f"{len(rows)} cells, {len(table)} rows in {options.out}")


def _origins(table: pd.DataFrame) -> pd.DataFrame:
    """Origins of rows: how many cells of each method, since when and until when, and their hours."""
    keys = [plan.alike(row.method, row.problem, row.setting) for row in table.itertuples()]
    recorded = table.assign(method=[method for method, _ in keys], setting=[setting for _, setting in keys])
    return origins(recorded.drop_duplicates(scores.KEY).groupby(ORIGIN)).round(3)


def write_page(options: argparse.Namespace) -> None:
    """Put the tables into the page, and draw the picture beside it; print the tables where there is no page."""
    rows = scores.read(options.rows)
    page.put_into(options.page, rows)
    if options.page is not None:
        page.draw(rows, options.page[0].with_name(page.PICTURE))


def make_environments(options: argparse.Namespace) -> None:
    """Make the environments of peers, from the package registry."""
    for group in options.groups:
        environments.make(options.work, group)
        print(f"{group}: {environments.python_of(options.work, group)}", flush=True)


def show_plan(options: argparse.Namespace) -> None:
    """Print replications and core-hours by method, from seconds an ask of a smoke run."""
    hours = plan.core_hours(options.methods, options.problems, options.settings, options.part)
    table = [
        {"method": name, "replications": plan.METHODS[name].replications, "ask_s": plan.METHODS[name].ask_s}
        | {"core_hours": round(hours[name], 2)}
        for name in hours
    ]
    print(pd.DataFrame(table).to_string(index=False), f"\n{sum(hours.values()):.1f} core-hours")


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or make something of what is recorded."""
    commands = Commands(__doc__)
    selection = argparse.ArgumentParser(add_help=False)
    selection.add_argument("--problems", nargs="+", choices=plan.PROBLEMS, default=[*plan.PROBLEMS])
    selection.add_argument("--settings", nargs="+", choices=plan.SETTINGS, default=[*plan.SETTINGS])
    selection.add_argument("--methods", nargs="+", choices=plan.METHODS, default=[*plan.METHODS])
    selection.add_argument("--part", choices=("core", "all"), default="core", help="of problems by settings")
    recorded = argparse.ArgumentParser(add_help=False, parents=[commands.work, selection])
    everything = range(plan.REPLICATIONS)
    recorded.add_argument("--replications", type=recording.replications, default=everything, metavar="FIRST:END")
    recorded.add_argument("--trials", type=int, default=plan.BUDGETS[-1], help="of a cell; fewer for a smoke run")
    recorded.add_argument("--commit", default=commit(), help="of this code, where git cannot say it")
    making = commands.add("environments", make_environments, parents=[commands.work])
    making.add_argument("--groups", nargs="+", choices=environments.GROUPS, default=environments.GROUPS)
    commands.add("plan", show_plan, parents=[selection])
    add_jobs(commands.add("record", record, parents=[recorded]))
    keeping = commands.add("keep", keep, parents=[recorded])
    keeping.add_argument("--out", type=Path, required=True, help="a folder")
    reading = commands.add("page", write_page)
    reading.add_argument("--rows", type=Path, required=True, help="the folder that keep wrote")
    add_page(reading)
    commands.run(arguments)


if __name__ == "__main__":
    main()
