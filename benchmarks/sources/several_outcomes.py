"""Errors of a source in two outcomes: is it named more often where both err, and not where none does?

Two outcomes of the same points: a problem of the registry, and the same with its coordinates in reverse order and
mirrored. One worker in four is off in both ("both") or in the first alone ("one"), by a size in standard deviations of
the objective, always ("offset") or since a third of the values ("step"), in the second the other way; or nobody is
("none"). The same values are judged together, as one study of two outcomes, and alone, as two studies of one each.

    python -m benchmarks.sources.several_outcomes --work W/shared.csv --page runs/sources-detection/tables.md
"""

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from benchmarks.common.tables import put
from benchmarks.sources import run
from robustbo.errors import SourceWarning
from robustbo.loop.sources.source_report import SourceReport
from robustbo.optimizer import Optimizer
from robustbo.searchspace.sobol import sobol_rows

OUTCOMES = ("first", "second")
CULPRIT = run.CULPRIT["offset"]
# Case, size of the error, noise, both in standard deviations of the objective, and the outcomes that err.
CASES = [
    ("offset", 0.5, 0.02, "both"),
    ("offset", 0.5, 0.02, "one"),
    ("offset", 0.75, 0.02, "both"),
    ("offset", 0.75, 0.02, "one"),
    ("step", 1.0, 0.02, "both"),
    ("step", 1.0, 0.02, "one"),
    ("none", 0.0, 0.02, "none"),
    ("none", 0.0, 0.2, "none"),
]


class Cell(NamedTuple):
    """One set of values.

    Attributes:
        problem: A name of the registry, or "random".
        case, size, noise, replication: As in `run.Cell`.
        errs: Which outcomes err.
    """

    problem: str
    case: str
    size: float
    noise: float
    errs: str
    replication: int

    @property
    def of_one(self) -> run.Cell:
        """The cell of a study of one outcome."""
        return run.Cell(self.problem, self.case, self.size, self.noise, math.inf, run.NUM_VALUES, self.replication)


def cells(problems: Sequence[str], replications: Sequence[int]) -> Iterator[Cell]:
    """The cells: replications before problems and cases."""
    for replication in replications:
        for problem in problems:
            for case, size, noise, errs in CASES:
                yield Cell(problem, case, size, noise, errs, replication)


def tell_all(cell: Cell, objective: run.Objective) -> list[Optimizer]:
    """A study of both outcomes, and one of each, with the same values."""
    generator, space = np.random.default_rng([cell.replication, 57]), objective.space
    goals = dict.fromkeys(OUTCOMES, objective.direction)
    together = Optimizer(space, objectives=goals, seed=cell.replication)
    alone = [Optimizer(space, direction=objective.direction, seed=cell.replication) for _ in OUTCOMES]
    for i, row in enumerate(sobol_rows(len(space.names), cell.replication, 0, run.NUM_VALUES)):
        worker = int(generator.integers(run.WORKERS))
        params, mirrored = space.from_unit(row), space.from_unit([1 - u for u in reversed(row)])
        error = run.error_of(cell.of_one, i, worker, generator)
        errors = [error, -error if cell.errs == "both" else 0.0]
        noisy = cell.noise * generator.normal(size=2) + errors
        values = [objective.at(at) + objective.sd * more for at, more in zip((params, mirrored), noisy, strict=True)]
        source = {"worker": f"W{worker}"}
        together.tell(params, dict(zip(OUTCOMES, values, strict=True)), source=source)
        for study, value in zip(alone, values, strict=True):
            study.tell(params, value, source=source)
    return [together, *alone]


def judge(*values: Any) -> dict[str, Any]:
    """Judge the values of a cell together and alone: who is named in each outcome."""
    cell = Cell(*values)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", SourceWarning)
    together, *alone = tell_all(cell, run.objective_of(cell.of_one))
    started = time.process_time()
    reports = together.view.sources()
    seconds, row = time.process_time() - started, dict[str, Any]()
    for outcome, study in zip(OUTCOMES, alone, strict=True):
        row |= verdicts(f"{outcome}_together", [report for report in reports if report.outcome == outcome])
        row |= verdicts(f"{outcome}_alone", study.view.sources())
    seconds_alone = time.process_time() - started - seconds
    return cell._asdict() | row | {"seconds": round(seconds, 2), "seconds_alone": round(seconds_alone, 2)}


def verdicts(way: str, reports: Sequence[SourceReport]) -> dict[str, Any]:
    """Return whether the worker who is off is named, whether another is, and the probability that this one errs."""
    doubted = [report for report in reports if report.status in ("in doubt", "block")]
    is_own = [report.level == CULPRIT and report.kind != "block" for report in doubted]
    probability = max((r.probability for r in reports if r.level == CULPRIT and r.kind != "block"), default=math.nan)
    return {f"{way}": any(is_own), f"{way}_others": not all(is_own), f"{way}_probability": round(probability, 4)}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of outcomes in which the worker is named who errs in them, and another, or one who does not."""
    lines = []
    for (case, size, noise, errs), group in rows.groupby(["case", "size", "noise", "errs"], sort=False):
        is_erring = {"first": errs != "none", "second": errs == "both"}
        line = {"case": case, "size": size, "noise": noise, "errs": errs, "studies": len(group)}
        right = [of_way(group, [o for o in OUTCOMES if is_erring[o]], way) for way in ("alone", "together")]
        wrong = [wrongly(group, is_erring, way) for way in ("alone", "together")]
        if errs != "none":
            more = right[1] - right[0]
            line |= {"named alone": right[0].mean().round(3), "named together": right[1].mean().round(3)}
            line |= {"more": f"{more.mean():.3f} +- {more.sem():.3f}"}
            line |= {"probability": probabilities(group, [o for o in OUTCOMES if is_erring[o]])}
        line |= {"wrongly, alone": wrong[0].mean().round(3), "wrongly, together": wrong[1].mean().round(3)}
        lines.append(line | {"seconds, to alone": (group["seconds"] / group["seconds_alone"]).mean().round(2)})
    return pd.DataFrame(lines).astype(object).fillna("")


def probabilities(group: pd.DataFrame, outcomes: Sequence[str]) -> str:
    """The mean probability of the worker's error in outcomes in which he errs, alone and together, and what is more."""
    alone, together = (
        group[[f"{outcome}_{way}_probability" for outcome in outcomes]].mean(axis=1).dropna()
        for way in ("alone", "together")
    )
    more = together - alone
    return f"{alone.mean():.2f}, {together.mean():.2f}: {more.mean():+.3f} +- {more.sem():.3f}" if len(more) > 1 else ""


def of_way(group: pd.DataFrame, outcomes: Sequence[str], way: str) -> pd.Series:
    """The share of some outcomes in which the worker is named, of each study."""
    return group[[f"{outcome}_{way}" for outcome in outcomes]].astype(float).mean(axis=1)


def wrongly(group: pd.DataFrame, is_erring: dict[str, bool], way: str) -> pd.Series:
    """The share of outcomes in which another is named, or the worker who does not err there, of each study."""
    columns = [group[f"{o}_{way}_others"] | (group[f"{o}_{way}"] if not is_erring[o] else False) for o in OUTCOMES]
    return pd.concat(columns, axis=1).astype(float).mean(axis=1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge the cells, and print or write a summary."""
    o = parser_of_studies(__doc__, run.PROBLEMS, 5).parse_args(arguments)
    csv_rows.record_missing(o.work, Cell._fields, cells(o.problems, o.replications), judge)
    table = summary(pd.read_csv(o.work))
    put({"shared": table}, None)
    if o.page:
        pages.put(o.page, {"shared": pages.markdown(table.to_dict("records"))})


if __name__ == "__main__":
    main()
