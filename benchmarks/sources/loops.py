"""Loops of which one worker in four is off: is it named, and what does it cost in regret?

A worker is too good by a size in standard deviations of the objective, from the beginning ("offset") or from a third
of the trials on ("step"), or nobody is ("none"). Three methods meet the same trials: "told", which knows who measures;
"hidden", which does not, the default before there were sources; and "corrected", an oracle that is told the values
without the error. Each trial's recommendation is scored by its true value. A cell is one of a run (`robustbo replay`
has the same methods in runs/sources-*.toml), kept in a folder beside --work, so that it goes on where it stopped.

Replications come before problems and cases, so that it may be stopped at any time.

    python -m benchmarks.sources.loops --work W/loops.csv --page runs/sources-detection/tables.md
"""

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from benchmarks.common.tables import put
from robustbo.errors import SourceWarning
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import run
from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.problem import load

PROBLEMS = ("branin", "hartmann3", "hartmann6", "levy", "ackley")
TRIALS = 60
BEGIN = 20  # of a step: a third of the trials
NOISE = 0.02
CULPRIT = "w0"
LABELLED, HIDDEN, CORRECTED = "told", "hidden", "corrected"
METHODS: dict[str, dict[str, str]] = {
    LABELLED: {},
    HIDDEN: {"sources": "hidden"},
    CORRECTED: {"sources": "hidden", "sees": "corrected"},
}
CASES = (("offset", 1.0), ("none", 0.0), ("step", 1.0), ("offset", 0.5))
LEAST = 1e-3  # standard deviations of the objective: what is nearer to the optimum counts as this
HALF = TRIALS // 2
MEASURES = ["half", "end", "average"]
PAIRS = ((LABELLED, CORRECTED), (HIDDEN, CORRECTED), (HIDDEN, LABELLED))


class Loop(NamedTuple):
    """One loop.

    Attributes:
        problem: A name of the registry.
        case: What is wrong.
        size: Of the error, in standard deviations of the objective.
        replication: Its number.
        method: A name of `METHODS`.
    """

    problem: str
    case: str
    size: float
    replication: int
    method: str


def loops(problems: Sequence[str], replications: Sequence[int]) -> Iterator[Loop]:
    """The loops: replications before cases and problems; where nothing is wrong one alone, to see who is named.

    What a name is worth, against the default before there were sources, is seen of the first case alone.
    """
    for replication in replications:
        for number, (case, size) in enumerate(CASES):
            for problem in problems:
                for method in METHODS:
                    if method == LABELLED or (size and (method == CORRECTED or number == 0)):
                        yield Loop(problem, case, size, replication, method)


def spec_of(loop: Loop) -> RunSpec:
    """The run that a loop is of, with all methods."""
    problem = load(loop.problem)
    error = loop.size if problem.maximizes else -loop.size  # too good
    kind = "source-step" if loop.case == "step" else "source-offset"
    corruption: dict[str, Any] = {"kind": kind, "error": error} | ({"begin": BEGIN} if loop.case == "step" else {})
    methods = {name: {"surrogate": "relevance-pursuit", **how} for name, how in METHODS.items()}
    described = {"problem": loop.problem, "trials": TRIALS, "replications": loop.replication + 1, "seed": 55}
    return RunSpec.model_validate(described | {"noise": {"share": NOISE}, "corruption": corruption, "methods": methods})


def run_loop(loop: Loop, folder: Path) -> dict[str, Any]:
    """Run a loop to its end, or on to there: what its recommendations lack, and who was named, and when first."""
    torch.set_num_threads(1)
    spec, started = spec_of(loop), time.process_time()
    place = folder / f"{loop.problem}-{loop.case}-{loop.size:g}"
    cell = OptimizationCell.of(spec, loop.method, loop.replication, place)
    alarms: dict[str, int] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SourceWarning)

        def note(number: int, worth: float | None) -> None:
            for warning in caught:
                if issubclass(warning.category, SourceWarning):
                    alarms.setdefault(CULPRIT if f"worker {CULPRIT} " in str(warning.message) else "another", number)

        run(cell, note)
    doubted = cell.sources_in_doubt() or []
    row = {"named": CULPRIT in doubted, "others": any(label != CULPRIT for label in doubted)}
    row |= {"first": alarms.get(CULPRIT, math.nan), "first_other": alarms.get("another", math.nan)}
    row |= lacks(cell, spec)
    return loop._asdict() | row | {"seconds": round(time.process_time() - started, 1)}


def lacks(cell: OptimizationCell, spec: RunSpec) -> dict[str, float]:
    """Logarithms to base 10 of what recommendations lack, in standard deviations: half way, in the end, on average."""
    problem, entries = spec.load_problem(), cell.entries()
    assert problem.optimum is not None
    clean = np.array([entry["clean"] for entry in entries])
    recommended = [entry["recommended"] for entry in entries]
    lack = np.abs(clean - problem.optimum) / problem.sample.std()
    logs = [math.nan if trial is None else math.log10(max(lack[trial], LEAST)) for trial in recommended]
    return {
        "half": round(logs[HALF - 1], 4),
        "end": round(logs[-1], 4),
        "average": round(float(np.nanmean(logs)), 4),
        "seen": round(math.log10(max(lack.min(), LEAST)), 4),
    }


def summary(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables: who is named, and what each method lacks more than the oracle, paired, with standard errors."""
    lines, paired = [], []
    for (case, size), group in rows.groupby(["case", "size"], sort=False):
        told = group[group["method"] == LABELLED]
        line = {"case": case, "size": size, "loops": len(told), "named": told["named"].mean() if size else math.nan}
        line |= {"others": told["others"].mean(), "others, ever": told["first_other"].notna().mean()}
        lines.append(line | {"first named at trial": told["first"].median()})
        logs = group.pivot_table(MEASURES, ["problem", "replication"], "method")
        for measure in MEASURES if size else ():
            table = logs[measure].dropna()
            if len(table) > 1 and {LABELLED, CORRECTED} <= set(table):
                row = {"case": case, "size": size, "lack": measure, "loops of each": len(table)}
                paired.append(row | {method: table[method].mean() for method in METHODS if method in table})
                for more, less in PAIRS:
                    if {more, less} <= set(table):
                        difference = table[more] - table[less]
                        paired[-1][f"{more} more than {less}"] = f"{difference.mean():.2f} +- {difference.sem():.2f}"
    return {"loops": pd.DataFrame(lines).round(2), "loops-regret": pd.DataFrame(paired).round(2)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the loops, and print or write their rows and tables."""
    parser = parser_of_studies(__doc__, PROBLEMS, 2)
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    o = parser.parse_args(arguments)
    folder = o.work.parent / f"{o.work.stem}-cells"
    csv_rows.record_missing(
        o.work, Loop._fields, loops(o.problems, o.replications), lambda *values: run_loop(Loop(*values), folder)
    )
    tables = summary(pd.read_csv(o.work))
    put(tables, o.out)
    if o.page:
        pages.put(
            o.page,
            {
                name: pages.markdown(table.astype(object).fillna("").to_dict("records"))
                for name, table in tables.items()
            },
        )


if __name__ == "__main__":
    main()
