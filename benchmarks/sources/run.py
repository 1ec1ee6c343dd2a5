"""Detection of sources in error: how often one is named that is wrong, and one that is not.

Space-filling points are measured by four workers, each with noise. One of them is off by a size in standard deviations
of the objective over its space, too high or too low by turns: from the beginning ("offset"), or from a third of the
values on ("step"); or all are, from 60 % on ("since"); or each of its values has an error of its own ("broken"); or
each worker has a level of its own ("block"). Where nothing is wrong ("none"), also where a worker measures one region
alone ("region", of a size where it is off), nobody is to be named. Constants were chosen on "random", sums of cosines
in 3 to 6 dimensions; problems of the registry judge. Loops are in benchmarks/sources/loops.py.

Studies that --work has are not run again: another version of the code needs another file. Replications come before
problems and cases, so that it may be stopped at any time.

    python -m benchmarks.sources.run --plan points --work W/points.csv --page runs/sources-detection/tables.md
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from benchmarks.common.tables import put
from robustbo.errors import SourceWarning
from robustbo.loop.sources.source_report import SourceReport
from robustbo.optimizer import Optimizer
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.sobol import sobol_rows
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import load

PROBLEMS = ("branin", "hartmann3", "hartmann6", "levy", "ackley")
NUM_VALUES = 60
FEW = 3  # studies of a case of a problem, at least so many on average, of which shares are of interest
WORKERS = 4
OFF = 1  # the worker that is wrong, or that measures one region
SAMPLED = 2000  # points whose values say how much an objective varies
CULPRIT = {
    "since": None,
    "region": f"W{OFF}",
    "offset": f"W{OFF}",
    "step": f"W{OFF}",
    "broken": f"W{OFF}",
    "block": f"W{OFF}",
}
NORMAL = math.inf
# Case, size of the error, noise, both in standard deviations of the objective, and degrees of freedom of the noise.
POINTS = [
    ("offset", 1.0, 0.02, NORMAL),
    ("offset", 0.5, 0.02, NORMAL),
    ("step", 1.0, 0.02, NORMAL),
    ("none", 0.0, 0.02, NORMAL),
    ("none", 0.0, 0.2, NORMAL),
]
MORE = [
    ("step", 0.5, 0.02, NORMAL),
    ("none", 0.0, 0.05, 3.0),
    ("region", 0.0, 0.02, NORMAL),
    ("offset", 0.25, 0.02, NORMAL),
    ("step", 0.25, 0.02, NORMAL),
    ("since", 1.0, 0.02, NORMAL),
    ("broken", 1.0, 0.02, NORMAL),
    ("block", 0.5, 0.02, NORMAL),
]
REGION_OFF = [("region", 1.0, 0.02, NORMAL)]
NONE = [
    ("none", 0.0, 0.02, NORMAL),
    ("none", 0.0, 0.05, NORMAL),
    ("none", 0.0, 0.2, NORMAL),
    ("none", 0.0, 0.05, 3.0),
]
PLANS = {"points": POINTS, "more": MORE, "region": REGION_OFF, "none": NONE}
STEP, SINCE, REGION = 1 / 3, 0.6, 0.25  # shares of the values, likewise, and of the first coordinate's range


class Cell(NamedTuple):
    """One study.

    Attributes:
        problem: "random", or a name of the registry.
        case: What is wrong.
        size: Of the error, in standard deviations of the objective.
        noise: Standard deviation of the noise, likewise.
        dof: Degrees of freedom of the noise; infinite where it is normal.
        n: Number of values.
        replication: Its number.
    """

    problem: str
    case: str
    size: float
    noise: float
    dof: float
    n: int
    replication: int


class Objective(NamedTuple):
    """An objective, its space, and the standard deviation of its values there."""

    space: Space
    at: Callable[[Mapping[str, Any]], float]
    sd: float
    direction: Any


def objective_of(cell: Cell) -> Objective:
    """The objective of a cell, to be minimized or maximized as its problem is."""
    if cell.problem == "random":
        return _random_objective(cell.replication)
    problem = load(cell.problem)
    rows = sobol_rows(len(problem.space.names), 0, 0, SAMPLED)
    values = [problem(problem.space.from_unit(row)) for row in rows]
    return Objective(problem.space, problem, float(np.std(values)), problem.direction)


def _random_objective(seed: int) -> Objective:
    """A sum of cosines with Student-t frequencies, a process with a kernel that no surrogate here has."""
    d, generator = 3 + seed % 4, np.random.default_rng(seed)
    lengths = generator.uniform(0.4, 1.5, size=d)
    W, b = generator.standard_t(5, size=(60, d)) / lengths, generator.uniform(0, 2 * math.pi, 60)

    def at(params: Mapping[str, Any]) -> float:
        return float(np.cos(W @ np.array([*params.values()]) + b).sum())

    space = Space(**{f"x{i}": Float(0.0, 1.0) for i in range(d)})
    values = [at(space.from_unit(row)) for row in sobol_rows(d, 0, 0, SAMPLED)]
    return Objective(space, at, float(np.std(values)), "minimize")


def error_of(cell: Cell, i: int, worker: int, generator: np.random.Generator) -> float:
    """The error of value number i, in standard deviations of the objective."""
    sign = 1 - 2 * (cell.replication % 2)
    if cell.case == "broken":
        own = generator.normal()
        return cell.size * own if worker == OFF else 0.0
    if cell.case == "block":
        return cell.size * float(np.random.default_rng([cell.replication, 56]).normal(size=WORKERS)[worker])
    is_off = {
        "offset": worker == OFF,
        "region": worker == OFF,
        "step": worker == OFF and i >= STEP * cell.n,
        "since": i >= SINCE * cell.n,
    }.get(cell.case, False)
    return sign * cell.size * is_off


def run_study(cell: Cell, objective: Objective) -> tuple[Optimizer, int | None]:
    """The study of a cell, and the trial from which on something is wrong."""
    generator = np.random.default_rng([cell.replication, 55])
    study = Optimizer(objective.space, direction=objective.direction, seed=cell.replication)
    begin = None
    for i, row in enumerate(sobol_rows(len(objective.space.names), cell.replication, 0, cell.n)):
        params = objective.space.from_unit(row)
        worker = int(generator.integers(WORKERS))
        if cell.case == "region":
            is_there = objective.space.to_unit(params)[0] < REGION
            worker = OFF if is_there else [w for w in range(WORKERS) if w != OFF][worker % (WORKERS - 1)]
        normal = generator.normal() if math.isinf(cell.dof) else generator.standard_t(cell.dof)
        error = error_of(cell, i, worker, generator)
        begin = i if begin is None and error else begin
        value = objective.at(params) + objective.sd * (cell.noise * normal + error)
        study.tell(params, value, source={"worker": f"W{worker}"})
    return study, begin


def judge(*values: Any) -> dict[str, Any]:
    """Run the study of a cell, and see who is named at its end."""
    cell = Cell(*values)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", SourceWarning)
    started, objective = time.process_time(), objective_of(cell)
    study, begin = run_study(cell, objective)
    reports = study.view.sources()
    named = [report for report in reports if report.status == "in doubt" or report.kind == "block"]
    is_block, culprit = cell.case == "block", CULPRIT.get(cell.case if cell.size else "none", "nobody")
    own = [report for report in named if report.level == culprit and (report.kind == "block") == is_block]
    blamed = [report for report in named if report not in own and not (is_block and report.kind == "block")]
    row: dict[str, Any] = {"named": bool(own), "others": bool(blamed)}
    of_worker = [report for report in reports if report.level == f"W{OFF}"]
    row["is_apart"] = all(report.status != "not distinguishable" for report in of_worker)
    row["is_doubtful"] = any(report.is_doubtful for report in of_worker)
    row |= _claim(own[0], objective.sd, begin) if own else {"error": math.nan, "sd": math.nan, "late": math.nan}
    kinds = " ".join(f"{report.kind}:{report.level}" for report in named)
    return cell._asdict() | row | {"kinds": kinds, "seconds": round(time.process_time() - started, 2)}


def _claim(report: SourceReport, unit: float, begin: int | None) -> dict[str, float]:
    """The error that is said, in standard deviations of the objective, and how many trials too late it begins."""
    late = (report.since or 0) - begin if report.kind == "step" and begin is not None else math.nan
    return {"error": round(report.error / unit, 3), "sd": round(report.sd / unit, 3), "late": late}


def cells_of(plan: str, problems: Sequence[str], replications: Sequence[int]) -> Iterator[Cell]:
    """The cells of a plan: replications before problems and cases."""
    for replication in replications:
        for problem in problems:
            for case, size, noise, dof in PLANS[plan]:
                yield Cell(problem, case, size, noise, dof, NUM_VALUES, replication)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of studies in which the source in error, and another, was named: over all problems, and of each."""
    by = ["case", "size", "noise", "dof"]
    is_split = len(rows) > len(rows.groupby(["problem", *by])) * FEW
    parts = [rows.assign(problem="all"), rows] if is_split else [rows.assign(problem="all")]
    lines = []
    for part in parts:
        for key, group in part.groupby(["problem", *by], sort=False):
            is_wrong = key[1] in CULPRIT and key[2] > 0
            lines.append(dict(zip(["problem", *by], key, strict=True)) | _shares(group, is_wrong))
    return pd.DataFrame(lines)


def _shares(group: pd.DataFrame, is_wrong: bool) -> dict[str, Any]:
    own = group[group["named"] & group["case"].isin(["offset", "step", "since"])]
    ratio = own["error"].abs() / own["size"]
    return {
        "studies": len(group),
        "named": round(group["named"].mean(), 3) if is_wrong else "",
        "others": round(group["others"].mean(), 3),
        "size said / true": f"{ratio.mean():.2f} +- {ratio.std():.2f}" if len(own) > 1 else "",
        "seconds": round(group["seconds"].mean(), 2),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies, and print or write their rows and a summary."""
    parser = parser_of_studies(__doc__, PROBLEMS, 20)
    parser.add_argument("--plan", choices=PLANS, required=True)
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    o = parser.parse_args(arguments)
    csv_rows.record_missing(o.work, Cell._fields, cells_of(o.plan, o.problems, o.replications), judge)
    rows = pd.read_csv(o.work)
    tables = {o.plan: summary(rows)}
    put({"rows": rows, **tables}, o.out)
    if o.page:
        pages.put(o.page, {name: pages.markdown(table.to_dict("records")) for name, table in tables.items()})


if __name__ == "__main__":
    main()
