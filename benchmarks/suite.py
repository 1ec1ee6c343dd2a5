"""The suite: thirteen problems by eight settings, recorded into a folder, and compared pair by pair.

A setting is a spec, runs/suite-*.toml, which any of the problems can be put into. What is recorded depends on the specs
alone, and what is there is kept: two checkouts record the same cells into two folders, which are then compared.

    python benchmarks/suite.py record --work W --replications 0:8 --methods default standard informed oracle
    python benchmarks/suite.py compare --a W1:default --b W2:default

Two cells that cannot differ are recorded once: the oracle's, whatever is measured, in the setting "clean"; and that of
`informed` where no value is wrong is the plain GP's.
"""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute.work import Failure, work
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec

RUNS = Path(__file__).parents[1] / "runs"
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
OTHERS = {"svm": [], "cnn": [], "rover": ["trials=100", "num_initial=20"]}
PROBLEMS: dict[str, list[str]] = FUNCTIONS | OTHERS
NOISE = {"ackley": "noise.share=0.02"}  # that values have in every setting that has no other noise
METHODS = ("default", "standard", "informed", "oracle")
SHARES = (0.4, 0.6, 0.8, 1.0)  # of the trials: 20, 30, 40 and 50 of 50
FLOOR = 1e-6  # of the spread: the least regret that is told from none


@cache
def spec(setting: str, problem: str, overrides: tuple[str, ...] = ()) -> RunSpec:
    """The spec of a problem in a setting."""
    path = RUNS / f"suite-{setting}.toml"
    given = [f"problem={problem}", *PROBLEMS[problem]]
    noise = [NOISE[problem]] if problem in NOISE and reading.load(path).noise is None else []
    made = reading.load(path, [*given, *noise, *overrides])
    assert isinstance(made, RunSpec)
    return made


def cell(
    work_folder: Path, setting: str, problem: str, method: str, replication: int, overrides: Sequence[str] = ()
) -> OptimizationCell:
    """The cell of a method in a setting, or the one that it cannot differ from."""
    whole = spec(setting, problem, tuple(overrides))
    if whole.methods[method].sees == "clean" and setting != "clean":
        return cell(work_folder, "clean", problem, method, replication, overrides)
    if method == "informed" and whole.corruption is None:
        method = "standard"
    return OptimizationCell.of(whole, method, replication, work_folder / setting / problem)


def cells(options: argparse.Namespace) -> Iterator[OptimizationCell]:
    """What there is to record: a replication of all before the next one, each cell once."""
    seen = set()
    for replication in options.replications:
        for problem in options.problems:
            for setting in options.settings:
                for method in options.methods:
                    made = cell(options.work, setting, problem, method, replication, options.set)
                    if made.record not in seen:
                        seen.add(made.record)
                        yield made


def _one(made: OptimizationCell) -> tuple[str, Failure | None]:
    torch.set_num_threads(1)
    return str(made.record), work(made, lambda progress: None)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    if options.jobs == 1:
        _report(map(_one, cells(options)))
        return
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        _report(pool.map(_one, cells(options)))


def _report(found: Iterator[tuple[str, Failure | None]]) -> None:
    for path, failure in found:
        if failure is not None:
            print(f"{path}: {failure.reason}", flush=True)


def regrets(made: OptimizationCell) -> list[float] | None:
    """log10 of the true regret of what is recommended after shares of the trials; None where it is not done."""
    entries = made.entries()
    if len(entries) < made.spec.trials:
        return None
    problem = made.spec.load_problem()
    assert problem.best is not None
    least = FLOOR * float(problem.sample.std())
    after = [entries[round(share * made.spec.trials) - 1]["recommended"] for share in SHARES]
    return [float(np.log10(max(abs(entries[n]["clean"] - problem.best[1]), least))) for n in after]


def paired(options: argparse.Namespace) -> pd.DataFrame:
    """A row a setting, problem and replication that both have: the regrets of a and of b after each share."""
    rows = []
    for setting in options.settings:
        for problem in options.problems:
            for replication in options.replications:
                both = [
                    regrets(cell(Path(folder), setting, problem, method, replication, options.set))
                    for folder, _, method in (options.a.rpartition(":"), options.b.rpartition(":"))
                ]
                if None not in both:
                    rows.append([setting, problem, replication, *np.ravel(both)])
    names = [f"{which}{share}" for which in "ab" for share in SHARES]
    return pd.DataFrame(rows, columns=["setting", "problem", "replication", *names])


def difference(found: pd.DataFrame) -> dict[str, Any]:
    """The means of both, and of a - b with its standard error: problems are fixed, replications are drawn.

    A replication of a problem is a draw, whose settings are averaged: they share the initial points.
    """
    drawn = found.drop(columns="setting").groupby(["problem", "replication"]).mean()
    made: dict[str, Any] = {"draws": len(drawn)}
    for share in SHARES:
        pair = drawn[[f"a{share}", f"b{share}"]]
        by_problem = (pair[f"a{share}"] - pair[f"b{share}"]).groupby("problem")
        error = np.sqrt((by_problem.var() / by_problem.size()).sum()) / len(by_problem)
        made[f"{100 * share:.0f} %"] = f"{by_problem.mean().mean():+.2f} +- {error:.2f}"
    a, b = pair.groupby("problem").mean().mean()
    return made | {"a": round(float(a), 2), "b": round(float(b), 2)}


def compare(options: argparse.Namespace) -> None:
    """Print the differences: a setting and problem a row, a setting a row, a problem a row, and all."""
    found = paired(options)
    if found.empty:
        raise SystemExit("nothing is recorded of both")
    print(
        f"log10 of the true regret, at least {FLOOR:g} of the spread; a - b after shares of the trials, less is better"
    )
    print(f"a = {options.a}, b = {options.b}; the last columns are their means after the last trial\n")
    for by in (["setting", "problem"], ["setting"], ["problem"]):
        table = [dict(zip(by, key, strict=True)) | difference(rows) for key, rows in found.groupby(by, sort=False)]
        print(pd.DataFrame(table).to_string(index=False), end="\n\n")
    print(pd.DataFrame([difference(found)]).to_string(index=False))


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--replications", type=_range, default=range(8), help="first:end")
    shared.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(FUNCTIONS))
    shared.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    shared.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the specs; see replay")
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", parents=[shared])
    recording.add_argument("--work", type=Path, required=True)
    recording.add_argument("--methods", nargs="+", default=list(METHODS))
    recording.add_argument("--jobs", type=int, default=1)
    recording.set_defaults(run=record)
    comparing = commands.add_parser("compare", parents=[shared])
    comparing.add_argument("--a", required=True, metavar="FOLDER:METHOD")
    comparing.add_argument("--b", required=True, metavar="FOLDER:METHOD")
    comparing.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


def _range(text: str) -> range:
    first, _, end = text.partition(":")
    return range(int(first), int(end))


if __name__ == "__main__":
    main()
