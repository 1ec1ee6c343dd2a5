"""Detection of sources in error: how often one is named that is wrong, and one that is not.

Space-filling points, or those of a loop, are measured by four workers, each with noise. One of them is off by a size in
standard deviations of the objective over its space, too high or too low: from the beginning ("offset"), or from a third
of the values on ("step"); or all are, from 60 % on ("since"); or each of its values has an error of its own ("broken").
Where nothing is wrong ("none"), also where a worker measures one region alone ("region"), nobody is to be named.
Constants were chosen on "random", sums of cosines in 3 to 6 dimensions; problems of the registry judge.

    python -m benchmarks.quality.sources --problems random --cases none offset step --sizes 0.5 1 --replications 0:20
    python -m benchmarks.quality.sources --problems hartmann3 branin levy --loops --out runs/sources-detection
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import recording
from benchmarks.common.tables import put
from robustbo.optimizer import Optimizer
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.sobol import sobol_rows
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import load

CASES = ("none", "region", "offset", "step", "since", "broken")
WORKERS = 4
OFF = 1  # the worker that is wrong, or that measures one region
SAMPLED = 2000  # points whose values say how much an objective varies
STEP, SINCE, REGION = 1 / 3, 0.6, 0.25  # shares of the values, likewise, and of the first coordinate's range


class Cell(NamedTuple):
    """One study.

    Attributes:
        problem: "random", or a name of the registry.
        case: One of `CASES`.
        size: Of the error, in standard deviations of the objective.
        noise: Standard deviation of the noise, likewise.
        dof: Degrees of freedom of the noise; infinite where it is normal.
        n: Number of values.
        is_loop: Whether the points are those of a loop.
        replication: Its number.
    """

    problem: str
    case: str
    size: float
    noise: float
    dof: float
    n: int
    is_loop: bool
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


def points_of(cell: Cell, objective: Objective, study: Optimizer) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """The points of a cell one after the other, with the trial's number where they were asked for."""
    if cell.is_loop:
        for _ in range(cell.n):
            trial = study.ask()
            yield trial.number, trial.params
    else:
        for row in sobol_rows(len(objective.space.names), cell.replication, 0, cell.n):
            yield None, objective.space.from_unit(row)


def error_of(cell: Cell, i: int, worker: int, generator: np.random.Generator) -> float:
    """The error of value number i, in standard deviations of the objective."""
    sign = 1 - 2 * (cell.replication % 2)
    if cell.case == "broken":
        own = generator.normal()
        return cell.size * own if worker == OFF else 0.0
    is_off = {
        "offset": worker == OFF,
        "step": worker == OFF and i >= STEP * cell.n,
        "since": i >= SINCE * cell.n,
    }.get(cell.case, False)
    return sign * cell.size * is_off


def judge(cell: Cell) -> dict[str, Any]:
    """Run a study, and see who is named at its end."""
    torch.set_num_threads(1)
    objective, generator = objective_of(cell), np.random.default_rng([cell.replication, 55])
    study = Optimizer(objective.space, direction=objective.direction, seed=cell.replication)
    for i, (number, params) in enumerate(points_of(cell, objective, study)):
        worker = int(generator.integers(WORKERS))
        if cell.case == "region":
            is_there = objective.space.to_unit(params)[0] < REGION
            worker = OFF if is_there else [w for w in range(WORKERS) if w != OFF][worker % (WORKERS - 1)]
        normal = generator.normal() if math.isinf(cell.dof) else generator.standard_t(cell.dof)
        value = objective.at(params) + objective.sd * (cell.noise * normal + error_of(cell, i, worker, generator))
        study.tell(params if number is None else number, value, source={"worker": f"W{worker}"})
    started = time.process_time()
    reports = study.view.sources()
    doubted = [report for report in reports if report.status == "in doubt" or report.kind == "block"]
    culprit = {"since": None, "offset": f"W{OFF}", "step": f"W{OFF}", "broken": f"W{OFF}"}.get(cell.case, "nobody")
    own = [report for report in doubted if report.level == culprit and report.kind != "block"]
    size = own[0].error / objective.sd if own else math.nan
    is_apart = all(report.status != "not distinguishable" for report in reports if report.level == f"W{OFF}")
    row = {"named": bool(own), "others": len(own) < len(doubted), "is_apart": is_apart, "error": round(size, 3)}
    kinds = " ".join(f"{report.kind}:{report.level}" for report in doubted)
    return cell._asdict() | row | {"kinds": kinds, "seconds": round(time.process_time() - started, 2)}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of studies in which the source in error, and another, was named."""
    by = ["problem", "case", "size", "noise", "dof", "n", "is_loop"]
    table = rows.groupby(by, sort=False).agg(
        studies=("named", "size"), named=("named", "mean"), others=("others", "mean"), seconds=("seconds", "mean")
    )
    return table.round(3).reset_index()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies, and print or write their rows and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=["random"])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--sizes", nargs="+", type=float, default=[1.0])
    parser.add_argument("--noise", type=float, default=0.02, help="standard deviation, in those of the objective")
    parser.add_argument("--dof", type=float, default=math.inf, help="degrees of freedom of Student-t noise")
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--replications", type=recording.replications, default=range(20))
    parser.add_argument("--loops", action="store_true", help="points of a loop in place of space-filling ones")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    o = parser.parse_args(arguments)
    todo = [
        Cell(problem, case, size, o.noise, o.dof, o.n, o.loops, replication)
        for problem in o.problems
        for case in o.cases
        for size in (o.sizes if case in ("offset", "step", "since", "broken") else [0.0])
        for replication in o.replications
    ]
    rows = pd.DataFrame(list(recording.run_all(judge, todo, o.jobs)))
    put({"rows": rows, "summary": summary(rows)}, o.out)


if __name__ == "__main__":
    main()
