"""The mission's own problems, SVM, CNN and rover: three failures by two rates, every method, pair by pair.

The specs are runs/svm.toml, runs/cnn.toml and runs/rover.toml; a setting is a failure at a rate in place of theirs.
What is recorded depends on the specs alone; what is there is kept, and a replication of all comes before the next one.

    python -m benchmarks.papers.mission record --work W --replications 0:20 --jobs 2
    python -m benchmarks.papers.mission keep --work W --out runs/mission
    python -m benchmarks.papers.mission tables --page docs/evidence/mission.md runs/mission/tables.md
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import pages, recording
from benchmarks.common.commands import Commands, add_least
from benchmarks.common.paths import RUNS
from benchmarks.common.provenance import commit
from benchmarks.common.tables import with_enough
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.score.optimization import marks, rows
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec

PROBLEMS = ("svm", "cnn", "rover")
FAILURES = {"own": "", "in-range": "in-range", "random-point": "random-point"}  # its own: a job that died half-way
RATES = (10, 20)
SETTINGS = {f"{failure}-{rate}": (failure, rate) for failure in FAILURES for rate in RATES}
METHODS = ("standard", "relevance-pursuit", "oracle", "informed", "student-t", "filtered", "winsorized")
DEFAULT = "relevance-pursuit"
CLEAN = ("oracle", "optuna-gp-clean", "sobol")  # what sees no failure, or heeds none: one in all settings
SHARES = (0.4, 0.6, 0.8, 1.0)
ENOUGH = 20  # pairs of a line of the page
AFTER = tuple(f"{share:.0%}" for share in SHARES)
BETTER = {"svm": -1.0, "cnn": 1.0, "rover": 1.0}  # what a larger value is
KEYS = ["problem", "setting", "method", "replication"]
Rows = list[dict[str, Any]]


@cache
def spec(problem: str, setting: str) -> RunSpec:
    """The spec of a problem in a setting."""
    failure, rate = SETTINGS[setting]
    overrides = [f"corruption.probability={rate / 100}"]
    overrides += [f"corruption.kind={FAILURES[failure]}"] if FAILURES[failure] else []
    run_spec = reading.load(RUNS / f"{problem}.toml", overrides)
    assert isinstance(run_spec, RunSpec)
    return run_spec


def cell(work: Path, problem: str, setting: str, method: str, replication: int) -> OptimizationCell:
    """The cell of a method; that of one which sees no failure is one in all settings."""
    within = next(iter(SETTINGS)) if method in CLEAN else setting
    return OptimizationCell.of(spec(problem, within), method, replication, work / problem / within)


def cells(options: argparse.Namespace) -> Iterator[tuple[tuple[str, str, str, int], OptimizationCell]]:
    """Cells to record, a replication of all before the next one."""
    for key in product(options.replications, options.settings, options.problems, options.methods):
        replication, setting, problem, method = key
        yield (problem, setting, method, replication), cell(options.work, problem, setting, method, replication)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    recording.record({cell.record: cell for _, cell in cells(options)}.values(), options.jobs)


def score_cell(cell: OptimizationCell) -> dict[str, Any] | None:
    """True values at what is recommended after shares of the trials, and what was flagged; None if it is not done."""
    entries = cell.entries()
    if len(entries) < cell.spec.trials:
        return None
    table = rows([cell])
    flagged, wrong = marks(table)
    row: dict[str, Any] = {}
    for share, after in zip(SHARES, AFTER, strict=True):
        n = entries[round(share * cell.spec.trials) - 1]["recommended"]
        row[after] = np.nan if n is None else entries[n]["clean"]
    counts = {"wrong": wrong.sum(), "flagged": flagged.sum(), "right": (flagged & wrong).sum()}
    counts["repeats"] = int(table["repeats"].notna().sum())
    return row | {name: int(count) for name, count in counts.items()}


def keep(options: argparse.Namespace) -> None:
    """Write a row a cell that is done, of methods with enough replications, and about.csv, how many cells which
    libraries made; say in how many hours."""
    options.settings, options.problems, options.replications = list(SETTINGS), list(PROBLEMS), range(100)
    options.methods = [*spec(PROBLEMS[0], next(iter(SETTINGS))).methods]
    table, made_by = [], {}
    for key, cell in cells(options):
        if (score := score_cell(cell)) is not None:
            table.append(dict(zip(KEYS, key, strict=True)) | score)
            made_by[cell.record] = versions_of(cell)
    options.out.mkdir(parents=True, exist_ok=True)
    with_enough(pd.DataFrame(table), KEYS[:3], options.least).sort_values(KEYS).to_csv(
        options.out / "rows.csv", index=False, float_format="%.6g"
    )
    times = [pd.read_csv(path) for path in options.work.glob("*/*/timings.csv")]
    hours = pd.concat(times)["seconds"].sum() / 3600
    counts = pd.Series(made_by).value_counts().rename_axis("versions").rename("cells").reset_index()
    counts.assign(commit=options.commit or commit()).to_csv(options.out / "about.csv", index=False)
    print(f"{len(made_by)} cells in {options.out}, {hours:.2f} hours")


def versions_of(cell: OptimizationCell) -> str:
    """The libraries that a cell began with."""
    with cell.journal.open(encoding="utf-8") as lines:
        header = json.loads(next(lines))
    return " ".join(f"{name}=={version}" for name, version in header["versions"].items())


def better(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Rows:
    """Gain of the first of two methods over the second after shares of the trials; of two replications or more."""
    return [
        {"problem": problem, "setting": setting, "method": method, "than": other, "pairs": len(gain)}
        | {name: f"{gain[name].mean():+.3g} ± {gain[name].sem():.2g}" for name in gain.columns}
        for (problem, setting), group in scores.groupby(["problem", "setting"], sort=False)
        for method, other in pairs
        if len(gain := gains(group, method, other, BETTER[str(problem)])) > 1
    ]


def claim(scores: pd.DataFrame) -> Rows:
    """Gain of the default over the plain GP where there are enough pairs."""
    lines = [line for line in better(scores, [(DEFAULT, "standard")]) if line["pairs"] >= ENOUGH]
    return [{name: line[name] for name in ("problem", "setting", "pairs", *AFTER)} for line in lines]


def gains(group: pd.DataFrame, method: str, other: str, sign: float) -> pd.DataFrame:
    """A pair of runs a row and a share of the trials a column: by how much the first is better."""
    of = {name: group[group["method"] == name].set_index("replication")[list(AFTER)] for name in (method, other)}
    return (sign * (of[method] - of[other])).dropna()


def means(scores: pd.DataFrame) -> Rows:
    """The mean true value at what is recommended, with the last one's standard error, and how right flags are."""
    lines: Rows = []
    for (problem, setting, method), group in scores.groupby(KEYS[:3], sort=False):
        if method in CLEAN and setting != next(iter(SETTINGS)):
            continue  # one in all settings
        flagged, right, wrong = (group[name].sum() for name in ("flagged", "right", "wrong"))
        row: dict[str, Any] = {"problem": problem, "setting": setting, "method": method, "runs": len(group)}
        row["40 %"] = f"{group[AFTER[0]].mean():.4g}"
        row["100 %"] = f"{group[AFTER[-1]].mean():.4g} ± {group[AFTER[-1]].sem():.2g}"
        row |= {"again": f"{group['repeats'].mean():.1f}", "flagged": flagged}
        row["precision"] = f"{right / flagged:.2f}" if flagged else "-"
        row["recall"] = f"{right / wrong:.2f}" if flagged else "-"
        lines.append(row)
    return lines


def tables(options: argparse.Namespace) -> None:
    """Print the tables, or put them into the page."""
    scores = pd.read_csv(options.rows)
    other_methods = [method for method in scores["method"].unique() if method != DEFAULT]
    plain = [(method, "standard") for method in other_methods if method != "standard"]
    by_name = {
        "claim": claim(scores),
        "means": means(scores),
        "default": better(scores, [(DEFAULT, other) for other in other_methods]),
        "standard": better(scores, plain),
    }
    pages.put(options.page, {name: pages.markdown(rows) for name, rows in by_name.items()})


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, keep rows, or print tables."""
    commands = Commands(__doc__)
    running = commands.add_record(record, replications=20)
    running.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    running.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    running.add_argument("--methods", nargs="+", default=list(METHODS))
    keeping = commands.add_keep(keep, RUNS / "mission")
    add_least(keeping)
    keeping.add_argument("--commit", help="of the code that recorded it, where that is not this one")
    commands.add_tables(tables, "--rows", RUNS / "mission" / "rows.csv")
    commands.run(arguments)


if __name__ == "__main__":
    main()
