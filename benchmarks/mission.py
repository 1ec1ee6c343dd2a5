"""The mission's own problems, SVM, CNN and rover: three failures by two rates, every method, pair by pair.

The specs are runs/svm.toml, runs/cnn.toml and runs/rover.toml; a setting is a failure at a rate in place of theirs. What
is recorded depends on the specs alone; what is there is kept, and a replication of all comes before the next one.

    python benchmarks/mission.py record --work W --replications 0:20 --jobs 2
    python benchmarks/mission.py keep --work W --out runs/mission
    python benchmarks/mission.py tables --rows runs/mission/rows.csv
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import recording

from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.score.optimization import marks, rows
from robustbo.replay.spec import reading
from robustbo.replay.spec.optimization import RunSpec

RUNS = Path(__file__).parents[1] / "runs"
PROBLEMS = ("svm", "cnn", "rover")
FAILURES = {"own": "", "in-range": "in-range", "random-point": "random-point"}  # its own: a job that died half-way
RATES = (10, 20)
SETTINGS = {f"{failure}-{rate}": (failure, rate) for failure in FAILURES for rate in RATES}
METHODS = ("standard", "relevance-pursuit", "oracle", "informed", "student-t", "filtered", "winsorized")
SHARES = (0.4, 0.6, 0.8, 1.0)
BETTER = {"svm": -1.0, "cnn": 1.0, "rover": 1.0}  # what a larger value is
KEYS = ["problem", "setting", "method", "replication"]
Rows = list[dict[str, Any]]


@cache
def spec(problem: str, setting: str) -> RunSpec:
    """The spec of a problem in a setting."""
    failure, rate = SETTINGS[setting]
    given = [f"corruption.probability={rate / 100}"]
    given += [f"corruption.kind={FAILURES[failure]}"] if FAILURES[failure] else []
    made = reading.load(RUNS / f"{problem}.toml", given)
    assert isinstance(made, RunSpec)
    return made


def cell(work: Path, problem: str, setting: str, method: str, replication: int) -> OptimizationCell:
    """The cell of a method; that of the oracle and of the Sobol sequence, which see no failure, is one in all settings."""
    whole = spec(problem, setting)
    first = next(iter(SETTINGS))
    if setting != first and (whole.methods[method].sees == "clean"):
        return cell(work, problem, first, method, replication)
    return OptimizationCell.of(whole, method, replication, work / problem / setting)


def cells(options: argparse.Namespace) -> Iterator[tuple[tuple[str, str, str, int], OptimizationCell]]:
    """What there is, a replication of all before the next one."""
    for key in product(options.replications, options.settings, options.problems, options.methods):
        replication, setting, problem, method = key
        yield (problem, setting, method, replication), cell(options.work, problem, setting, method, replication)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done."""
    recording.record({made.record: made for _, made in cells(options)}.values(), options.jobs)


def scored(made: OptimizationCell) -> dict[str, Any] | None:
    """True values at what is recommended after shares of the trials, and what was flagged; None if it is not done."""
    entries = made.entries()
    if len(entries) < made.spec.trials:
        return None
    table = rows([made])
    flagged, wrong = marks(table)
    row: dict[str, Any] = {}
    for share in SHARES:
        n = entries[round(share * made.spec.trials) - 1]["recommended"]
        row[f"{share:.0%}"] = np.nan if n is None else entries[n]["clean"]
    counts = {"wrong": wrong.sum(), "flagged": flagged.sum(), "right": (flagged & wrong).sum()}
    counts["repeats"] = int(table["repeats"].notna().sum())
    return row | {name: int(count) for name, count in counts.items()}


def keep(options: argparse.Namespace) -> None:
    """Write a row a cell that is done, and which code and machine made them."""
    options.settings, options.problems, options.replications = list(SETTINGS), list(PROBLEMS), range(100)
    options.methods = [*METHODS, "sobol", "botorch-relevance-pursuit", "ax-default"]
    done = (dict(zip(KEYS, key, strict=True)) | found for key, made in cells(options) if (found := scored(made)))
    options.out.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(done).sort_values(KEYS).to_csv(options.out / "rows.csv", index=False, float_format="%.6g")


def against(found: pd.DataFrame, method: str, other: str) -> Rows:
    """How much better a method is than another, in the mean over replications that both have, with a standard error."""
    made: Rows = []
    for (problem, setting), group in found.groupby(["problem", "setting"], sort=False):
        each = group.set_index(["method", "replication"])[[f"{share:.0%}" for share in SHARES]]
        if method not in each.index or other not in each.index:
            continue
        gain = (BETTER[str(problem)] * (each.loc[method] - each.loc[other])).dropna()
        if len(gain) > 1:
            errors = gain.std() / np.sqrt(len(gain))
            cells = {name: f"{gain[name].mean():+.3g} ± {errors[name]:.2g}" for name in gain.columns}
            made.append({"problem": problem, "setting": setting, "pairs": len(gain)} | cells)
    return made


def means(found: pd.DataFrame) -> Rows:
    """The mean true value at what is recommended in the end, a method a row, with its standard error."""
    made: Rows = []
    for (problem, setting, method), group in found.groupby(KEYS[:3], sort=False):
        last = group["100%"]
        error = last.std() / np.sqrt(len(last)) if len(last) > 1 else np.nan
        flagged, right, wrong = (group[name].sum() for name in ("flagged", "right", "wrong"))
        row = {"problem": problem, "setting": setting, "method": method, "runs": len(group)}
        row |= {"40%": f"{group['40%'].mean():.4g}", "100%": f"{last.mean():.4g} ± {error:.2g}"}
        row |= {"again": f"{group['repeats'].mean():.1f}", "flagged": flagged}
        row |= {"precision": f"{right / flagged:.2f}" if flagged else "-"}
        made.append(row | {"recall": f"{right / wrong:.2f}" if wrong else "-"})
    return made


def tables(options: argparse.Namespace) -> None:
    """Print the tables of the evidence page."""
    found = pd.read_csv(options.rows)
    print(recording.markdown(means(found)))
    for other in ("standard", "oracle", "informed", "winsorized", "botorch-relevance-pursuit", "ax-default"):
        print(f"\nThe default, better than `{other}` by, after shares of the trials:\n")
        print(recording.markdown(against(found, "relevance-pursuit", other)))
    for method in ("oracle", "informed", "student-t", "filtered", "winsorized"):
        print(f"\n`{method}`, better than `standard` by:\n")
        print(recording.markdown(against(found, method, "standard")))


def main(given: Sequence[str] | None = None) -> None:
    """Record, keep rows, or print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("record")
    running.add_argument("--work", type=Path, required=True)
    running.add_argument("--replications", type=recording.replications, default=range(20), help="first:end")
    running.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    running.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    running.add_argument("--methods", nargs="+", default=list(METHODS))
    running.add_argument("--jobs", type=int, default=1)
    running.set_defaults(run=record)
    keeping = commands.add_parser("keep")
    keeping.add_argument("--work", type=Path, required=True)
    keeping.add_argument("--out", type=Path, default=RUNS / "mission")
    keeping.set_defaults(run=keep)
    printing = commands.add_parser("tables")
    printing.add_argument("--rows", type=Path, default=RUNS / "mission" / "rows.csv")
    printing.set_defaults(run=tables)
    options = parser.parse_args(given)
    options.run(options)


if __name__ == "__main__":
    main()
