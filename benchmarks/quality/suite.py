"""The suite: thirteen problems by eight settings, recorded into a folder, and compared pair by pair.

A setting is a spec, runs/suite-*.toml, which any of the problems can be put into. What is recorded depends on the specs
alone, and what is there is kept: two checkouts record the same cells into two folders, which are then compared.

    python -m benchmarks.quality.suite record --work W --replications 0:8 --methods default standard informed oracle
    python -m benchmarks.quality.suite compare --a W1:default --b W2:default
    python -m benchmarks.quality.suite means --of W1:default W2:default W2:standard
    python -m benchmarks.quality.suite keep --of W1:default W2:default --out runs/suite/rows.csv

Two cells that cannot differ are recorded once: the oracle's, whatever is measured, in the setting "clean"; and that of
`informed` where no value is wrong is the plain GP's.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import recording
from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec

SETTINGS = ("clean", "gaussian", "student-t", "crash", "uniform", "random-point", "too-good", "sticks")
FUNCTIONS = {  # what each says beside its name
    "beale": [],
    "bukin": [],
    "drop-wave": [],
    "egg-holder": [],
    "holder-table": [],
    "powell": [],
    "rastrigin": [],
    "three-hump-camel": [],
    "hartmann3": [],
    "ackley": ["problem_options.d=3"],
}
DEAR_PROBLEMS = {"svm": [], "cnn": [], "rover": ["trials=100", "num_initial=20"]}
PROBLEMS: dict[str, list[str]] = FUNCTIONS | DEAR_PROBLEMS
NOISE = {"ackley": "noise.share=0.02"}  # that values have in every setting that has no other noise
METHODS = ("default", "standard", "informed", "oracle")
SHARES = (0.4, 0.6, 0.8, 1.0)  # of the trials: 20, 30, 40 and 50 of 50
FLOOR = 1e-8  # of the initial values' standard deviation, which all methods share: less regret is not told from none
ABOUT = f"log10 of the true regret (at least {FLOOR:g} of the initial spread) of what is recommended, less is better"


@cache
def spec(setting: str, problem: str, overrides: tuple[str, ...] = ()) -> RunSpec:
    """The spec of a problem in a setting; each problem has draws of its own."""
    settings = [f"problem={problem}", f"seed={list(PROBLEMS).index(problem)}", *PROBLEMS[problem]]
    noise = [NOISE[problem]] if problem in NOISE and _load_spec(setting).noise is None else []
    return _load_spec(setting, *settings, *noise, *overrides)


def _load_spec(setting: str, *overrides: str) -> RunSpec:
    run_spec = reading.load(RUNS / f"suite-{setting}.toml", overrides)
    assert isinstance(run_spec, RunSpec)
    return run_spec


def cell(
    work_folder: Path, setting: str, problem: str, method: str, replication: int, overrides: Sequence[str] = ()
) -> OptimizationCell:
    """The cell of a method in a setting, or the one that it cannot differ from."""
    run_spec = spec(setting, problem, tuple(overrides))
    if run_spec.methods[method].sees == "clean" and setting != "clean":
        return cell(work_folder, "clean", problem, method, replication, overrides)
    if method == "informed" and run_spec.corruption is None:
        method = "standard"
    return OptimizationCell.of(run_spec, method, replication, work_folder / setting / problem)


def cells(options: argparse.Namespace) -> Iterator[OptimizationCell]:
    """Cells to record: a replication of all before the next one, each cell once."""
    records = set()
    for key in product(options.replications, options.problems, options.settings, options.methods):
        replication, problem, setting, method = key
        new_cell = cell(options.work, setting, problem, method, replication, options.set)
        if new_cell.record not in records:
            records.add(new_cell.record)
            yield new_cell


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    recording.record(cells(options), options.jobs)


def regrets(cell: OptimizationCell) -> np.ndarray | None:
    """log10 of the true regret of what is recommended after shares of the trials; None where it is not done."""
    entries = cell.entries()
    if len(entries) < cell.spec.trials:
        return None
    problem = cell.spec.load_problem()
    assert problem.best is not None
    least = FLOOR * np.std([entry["clean"] for entry in entries[: cell.spec.num_initial]])
    after = [entries[round(share * cell.spec.trials) - 1]["recommended"] for share in SHARES]
    sign = -1.0 if problem.maximizes else 1.0
    lost = [np.nan if n is None else sign * (entries[n]["clean"] - problem.best[1]) for n in after]
    return np.log10(np.maximum(lost, least))


def scores(options: argparse.Namespace, recorded: Sequence[str]) -> pd.DataFrame:
    """A row a setting, problem and replication that all have: of each FOLDER:METHOD the regrets after each share."""
    rows: dict[tuple[str, str, int], np.ndarray] = {}
    for key in product(options.settings, options.problems, options.replications):
        setting, problem, replication = key
        per_method = [
            regrets(cell(Path(folder), setting, problem, method, replication, options.set))
            for folder, _, method in (reference.rpartition(":") for reference in recorded)
        ]
        complete = [reference for reference in per_method if reference is not None]
        if len(complete) == len(recorded):
            rows[key] = np.concatenate(complete)
    if not rows:
        raise SystemExit(f"nothing is recorded of all of {', '.join(recorded)}")
    index = pd.MultiIndex.from_tuples(rows, names=["setting", "problem", "replication"])
    return pd.DataFrame([*rows.values()], index, pd.MultiIndex.from_product([recorded, SHARES]))


def difference(pairs: pd.DataFrame) -> dict[str, Any]:
    """The means of two after the last trial, and of the first less the second after each share, with standard errors.

    Problems are fixed, replications are drawn. Those of one problem that differ in the setting are averaged first,
    since they begin with the same points. Where a problem has a single replication, errors are those over problems.
    """
    a, b = dict.fromkeys(pairs.columns.get_level_values(0))
    by_replication = pairs.groupby(["problem", "replication"]).mean()
    of_problem = (by_replication[a] - by_replication[b]).groupby("problem")
    means = of_problem.mean()
    if of_problem.size().min() > 1 or len(means) == 1:
        errors = np.sqrt((of_problem.var() / of_problem.count()).sum(skipna=False)) / len(means)
    else:
        errors = means.std() / np.sqrt(len(means))
    ends = [float(by_replication[method, SHARES[-1]].groupby("problem").mean().mean()) for method in (a, b)]
    line = {"pairs": len(pairs), "a": round(ends[0], 2), "b": round(ends[1], 2)}
    return line | {f"{share:.0%}": f"{means[share].mean():+.2f} +- {errors[share]:.2f}" for share in SHARES}


def compare(options: argparse.Namespace) -> None:
    """Print the differences: a setting and problem a row, a setting a row, a problem a row, and all."""
    pairs = scores(options, [options.a, options.b])
    print(f"a = {options.a}, b = {options.b}: {ABOUT}; their means at the end, and a - b after shares of the trials\n")
    for by in (["setting", "problem"], ["setting"], ["problem"]):
        table = [dict(zip(by, key, strict=True)) | difference(rows) for key, rows in pairs.groupby(by, sort=False)]
        print(pd.DataFrame(table).to_string(index=False), end="\n\n")
    print(pd.DataFrame([difference(pairs)]).to_string(index=False))


def means(options: argparse.Namespace) -> None:
    """Print the means after the last trial, a setting a row: of the pairs that all have, each problem counts once."""
    last = scores(options, options.of).xs(SHARES[-1], axis="columns", level=1)
    by_setting = last.groupby(["setting", "problem"], sort=False).mean().groupby("setting", sort=False).mean()
    by_setting.loc["all"] = by_setting.mean()
    by_setting["pairs"] = last.groupby("setting").size()
    print(f"{ABOUT}, after the last trial\n\n{by_setting.round(2).to_string()}")


def keep(options: argparse.Namespace) -> None:
    """Write the regrets: a row a FOLDER:METHOD, by the folder's name, setting, problem and replication."""
    rows = []
    for reference in options.of:
        try:
            regret_table = scores(options, [reference])[reference].round(4).reset_index()
        except SystemExit:
            continue
        folder, _, method = reference.rpartition(":")
        rows.append(regret_table.assign(code=Path(folder).name, method=method))
    table = pd.concat(rows).rename(columns={share: f"{share:.0%}" for share in SHARES})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out, index=False)


def main() -> None:
    """Record, or compare what is recorded."""
    parser = parser_of(__doc__)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--replications", type=recording.replications, default=range(8), help="first:end")
    shared.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(FUNCTIONS))
    shared.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    shared.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the specs; see replay")
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("record", parents=[shared])
    running.add_argument("--work", type=Path, required=True)
    running.add_argument("--methods", nargs="+", default=list(METHODS))
    running.add_argument("--jobs", type=int, default=1)
    running.set_defaults(run=record)
    comparing = commands.add_parser("compare", parents=[shared])
    comparing.add_argument("--a", required=True, metavar="FOLDER:METHOD")
    comparing.add_argument("--b", required=True, metavar="FOLDER:METHOD")
    comparing.set_defaults(run=compare)
    averaging = commands.add_parser("means", parents=[shared])
    averaging.add_argument("--of", nargs="+", required=True, metavar="FOLDER:METHOD")
    averaging.set_defaults(run=means)
    keeping = commands.add_parser("keep", parents=[shared])
    keeping.add_argument("--of", nargs="+", required=True, metavar="FOLDER:METHOD")
    keeping.add_argument("--out", type=Path, required=True)
    keeping.set_defaults(run=keep)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
