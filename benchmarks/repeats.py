"""Real measurements with real repeats: what robustness and measuring again are worth where nothing was corrupted by us.

Two tables (runs/repeats-*.toml): a trial measures one of the values that were really measured at its point, and the
true value is their median. What is recorded is kept, and the same command goes on, all methods of a replication before
the next one; `tables` writes the rows to --out and prints what docs/evidence/repeats.md shows.

    python benchmarks/repeats.py detect --work results/repeats --out runs/repeats
    python benchmarks/repeats.py record --work results/repeats --replications 0:20 --jobs 2
    python benchmarks/repeats.py tables --work results/repeats --out runs/repeats

What is called wrong is defined in benchmarks/repeats_reports.py, the scores in benchmarks/repeats_scores.py.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import recording
from repeats_detection import Draw, detect, draws, found, written
from repeats_reports import FAR, repeats_of, reported, robust_sd
from repeats_scores import judged, losses, markdown, mean, reliability

from robustbo.loop.outliers import outliers
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute.work import Failure
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec
from robustbo.trials.codec import fold
from robustbo.trials.history import History
from robustbo.trials.storage.reading import read

RUNS = Path(__file__).parents[1] / "runs"
PROBLEMS = ("crossed-barrel", "hplc")
PEERS = ("optuna-gp", "optuna-tpe", "ax-default")
SHARES = (0.25, 0.5, 0.75, 1.0)  # of the trials
AGAIN = (("default", "default-never"), ("standard-again", "standard"))  # measuring again or not
KEYS = ["data", "method", "replication"]
AFTER = [f"{share:.0%}" for share in SHARES]


def spec(problem: str, overrides: list[str]) -> RunSpec:
    """The run of a data set."""
    made = reading.load(RUNS / f"repeats-{problem}.toml", overrides)
    assert isinstance(made, RunSpec)
    return made


def cells(options: argparse.Namespace) -> Iterator[OptimizationCell]:
    """What there is to record: a replication of all before the next one."""
    specs = {problem: spec(problem, options.set) for problem in options.problems}
    names = options.methods or list(dict.fromkeys(name for made in specs.values() for name in made.methods))
    for replication, method, problem in product(options.replications, names, options.problems):
        yield OptimizationCell.of(specs[problem], method, replication, options.work / problem)


def is_judge(cell: OptimizationCell) -> bool:
    """Whether its method says of each measured value how far it believes it."""
    return cell.is_ours and cell.how.sees == "measured" and cell.how.acquisition != "sobol"


def file_of(cell: OptimizationCell) -> Path:
    """Where is kept what is said at the end of a cell."""
    return cell.folder / "values" / f"{cell.method}-{cell.replication}.csv"


def one(cell: OptimizationCell) -> tuple[str, Failure | None]:
    """Run a cell, and keep what its surrogate says in the end."""
    path, failure = recording.one(cell)
    if failure is None and is_judge(cell) and not file_of(cell).exists():
        written(reported(cell.spec.load_problem(), outliers(cell.settings, history_of(cell))), file_of(cell))
    return path, failure


def history_of(cell: OptimizationCell) -> History:
    """The trials of a recorded cell."""
    return fold(cell.journal, read(cell.journal))[1]


def loop_row(cell: OptimizationCell) -> dict[str, Any] | None:
    """Of a finished cell: regret after shares of the trials, of what is recommended and of the best point measured.

    `again` counts the trials at points that were measured before, and `nothing_new` those of them that gave a value
    once more, since the table has no other.
    """
    entries = cell.entries()
    if not cell.is_done:
        return None
    problem, trials = cell.spec.load_problem(), history_of(cell).trials
    assert problem.best is not None
    sign = 1.0 if problem.maximizes else -1.0
    lacks = [sign * (problem.best[1] - entry["clean"]) for entry in entries]
    row: dict[str, Any] = {"data": cell.problem, "method": cell.method, "replication": cell.replication}
    last = [round(share * cell.spec.trials) for share in SHARES]
    asked = [entries[n - 1]["recommended"] for n in last]
    row |= {f"recommended {a}": np.nan if n is None else lacks[n] for a, n in zip(AFTER, asked, strict=True)}
    row |= {f"measured {a}": min(lacks[:n]) for a, n in zip(AFTER, last, strict=True)}
    before: list[Any] = []
    again, nothing_new = 0, 0
    for trial in trials[: cell.spec.trials]:
        count = before.count(trial.point)
        again += count > 0
        nothing_new += count >= len(repeats_of(problem, trial.params))
        before.append(trial.point)
    flags = cell.flagged()
    return row | {"again": again, "nothing_new": nothing_new, "flagged": len(flags or [])}


def loop_table(rows: pd.DataFrame, kind: str) -> list[dict[str, Any]]:
    """A method a row: regret after shares of the trials, and in the end less that of the default and of the plain GP."""
    made = []
    for method in rows["method"].unique():
        mine = rows[rows["method"] == method].set_index("replication")
        row = {"method": method, "n": len(mine)} | {after: mean(mine[f"{kind} {after}"]) for after in AFTER}
        for other in ("default", "standard"):
            theirs = rows[rows["method"] == other].set_index("replication")
            row[f"less {other}"] = mean(mine[f"{kind} {AFTER[-1]}"] - theirs[f"{kind} {AFTER[-1]}"])
        made.append(row | {name: f"{mine[name].mean():.1f}" for name in ("again", "nothing_new", "flagged")})
    return made


def again_table(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """A pair of methods and a kind of regret a row: paired differences, measuring again less not."""
    made = []
    for (one_, other), kind in product(AGAIN, ("recommended", "measured")):
        a, b = (rows[rows["method"] == name].set_index("replication") for name in (one_, other))
        both = a.index.intersection(b.index)
        row = {"pair": f"{one_} less {other}", "regret of what is": kind, "n": len(both)}
        made.append(
            row | {after: mean(a.loc[both, f"{kind} {after}"] - b.loc[both, f"{kind} {after}"]) for after in AFTER}
        )
    return made


def put_judged(title: str, values: pd.DataFrame) -> None:
    """Print who finds what its repeats contradict, of all values and of those at points measured once."""
    for which, part in (("all values", values), ("points measured once in the run", values[values["here"] == 1])):
        if which == "all values" or len(part) < len(values):
            rows = [{"method": name, **judged(part[part["method"] == name])} for name in part["method"].unique()]
            print(f"### {title}, {which}\n\n{markdown(rows)}")
    default = values[values["method"] == "default"]
    if len(default):
        print(f"### {title}: what the default's probabilities are worth\n\n{markdown(list(reliability(default)))}")
        print(markdown([losses(default, far) for far in FAR]))


def keep(table: pd.DataFrame, name: str, out: Path | None) -> None:
    """Write rows into the folder, if there is one."""
    if out is not None and len(table):
        out.mkdir(parents=True, exist_ok=True)
        table.to_csv(out / name, index=False)


def detection(options: argparse.Namespace) -> None:
    """Fit each surrogate to the draws that are not done, and print and write what is said."""
    todo = list(draws(options.problems, options.draws, options.work))
    for _ in recording.each(detect, todo, options.jobs):
        pass
    for problem in options.problems:
        parts = [found(draw) for draw in todo if draw.problem == problem]
        table = pd.concat([part for part in parts if part is not None], ignore_index=True)
        keep(table.drop(columns="here"), f"detection-{problem}.csv.gz", options.out)
        put_judged(f"{problem}, without the loop (sd {robust_sd(problem):.4g})", table)


def tables(options: argparse.Namespace) -> None:
    """Print and write all that is recorded of the loop."""
    done = [(cell, row) for cell in cells(options) if cell.record.exists() and (row := loop_row(cell)) is not None]
    loop = pd.DataFrame([row for _, row in done])
    keep(loop.round(4), "loop.csv", options.out)
    for problem in options.problems:
        rows = loop[loop["data"] == problem] if len(loop) else loop
        if not len(rows):
            continue
        for kind in ("recommended", "measured"):
            print(f"### {problem}: regret, {kind}\n\n{markdown(loop_table(rows, kind))}")
        print(f"### {problem}: measuring again\n\n{markdown(again_table(rows))}")
        there = [cell for cell, _ in done if cell.problem == problem and file_of(cell).exists()]
        if there:
            said = [pd.read_csv(file_of(c)).assign(method=c.method, replication=c.replication) for c in there]
            values = pd.concat(said, ignore_index=True)
            keep(values, f"values-{problem}.csv.gz", options.out)
            put_judged(f"{problem}, in the end (sd {robust_sd(problem):.4g})", values)


def main() -> None:
    """Record, detect, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--work", type=Path, default=Path("results/repeats"), help="where cells and draws are kept")
    shared.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    looped = argparse.ArgumentParser(add_help=False)
    looped.add_argument("--replications", type=recording.replications, default=range(20), help="first:end")
    looped.add_argument("--methods", nargs="+", help="all of the specs unless said")
    looped.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the specs; see replay")
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("record", parents=[shared, looped])
    running.add_argument("--jobs", type=int, default=1)
    running.set_defaults(run=lambda options: recording.record(cells(options), options.jobs, one))
    printing = commands.add_parser("tables", parents=[shared, looped])
    printing.add_argument("--out", type=Path, help="a folder")
    printing.set_defaults(run=tables)
    detecting = commands.add_parser("detect", parents=[shared])
    detecting.add_argument("--draws", type=int, default=20)
    detecting.add_argument("--jobs", type=int, default=1)
    detecting.add_argument("--out", type=Path, help="a folder")
    detecting.set_defaults(run=detection)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
