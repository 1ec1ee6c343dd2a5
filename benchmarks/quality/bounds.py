"""Values among many bounds: are right bounds believed, and is the objective still predicted?

Space-filling points of four functions; values below one limit or above another are told as bounds, and no value and no
bound is wrong. A row is a study: how many values lie between the limits, the share of its values and bounds that is
called wrong, and the root mean squared error of predictions, cut at the limits, in units of their distance.

    python -m benchmarks.quality.bounds --work runs/bounds/rows.csv --page docs/evidence/bounds.md
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import robustbo as rb
from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from robustbo.tasks.problem import Problem, load

PROBLEMS = ("branin", "hartmann3", "levy", "rastrigin")
SIZES, SHARES = (8, 16, 30), (0.5, 0.75, 0.9)  # values and bounds together, and the share of bounds
BELOW = 0.8  # of the bounds: below the lower limit, if the function is as at random points
NOISE = 0.02  # of the function's spread
MEASURED = (0, 1, 2, 3, 4, 6)  # values measured, at least, of a line of the table
KEY = ("problem", "n", "share", "replication")


def run_study(name: str, n: int, share: float, replication: int) -> Mapping[str, Any]:
    """Tell one study, and compare what it believes with the truth."""
    started, rng = time.process_time(), np.random.default_rng([replication, n, int(100 * share)])
    problem = load(name)
    sample = values_of(problem, rng.random((1000, len(problem.space))))
    low, high = np.quantile(sample, [share * BELOW, 1 - share * (1 - BELOW)])
    opt = rb.Optimizer(problem.space, direction=problem.direction, seed=replication)
    U = rng.random((n, len(problem.space)))
    y = values_of(problem, U) + rng.normal(0, NOISE * sample.std(), n)
    for u, value in zip(U, y.tolist(), strict=True):
        bound = rb.Below(float(low)) if value < low else rb.Above(float(high)) if value > high else value
        opt.tell(problem.space.from_unit(u.tolist()), bound)
    wrong = [report for report in opt.outliers() if report.probability_wrong > 0.5]
    test = rng.random((200, len(problem.space)))
    mean = opt.predict([problem.space.from_unit(u.tolist()) for u in test])["mean"].to_numpy()
    error = (mean.clip(low, high) - values_of(problem, test).clip(low, high)) / (high - low)
    measured = int(((low <= y) & (y <= high)).sum())
    row = {"measured": measured, "wrong": len(wrong) / n, "rmse": float(np.sqrt(np.mean(error**2)))}
    return dict(zip(KEY, (name, n, share, replication), strict=True)) | row | {"seconds": time.process_time() - started}


def values_of(problem: Problem, U: np.ndarray) -> np.ndarray:
    """The objective at unit-cube rows."""
    return np.array([problem.objective(problem.space.from_unit(u.tolist())) for u in U])


def with_error(values: pd.Series) -> str:
    """A mean and its standard error, as text."""
    return f"{values.mean():.3f} ± {values.sem():.3f}"


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """A line for each number of measured values."""
    lines = []
    for begin, end in zip(MEASURED, (*MEASURED[1:], np.inf), strict=True):
        group = rows[(begin <= rows["measured"]) & (rows["measured"] < end)]
        if len(group):
            last = (
                f" to {end - 1:.0f}" if np.isfinite(end) and end > begin + 1 else "" if np.isfinite(end) else " or more"
            )
            line = {"values measured": f"{begin}{last}", "studies": len(group)}
            line |= {"called wrong": with_error(group["wrong"]), "RMSE": with_error(group["rmse"])}
            lines.append(line | {"seconds": round(group["seconds"].median(), 1)})
    return pd.DataFrame(lines)


def main() -> None:
    parser = parser_of_studies(__doc__, PROBLEMS, 3)
    arguments = parser.parse_args()
    cases = (
        (name, n, share, replication)
        for replication in arguments.replications
        for name in arguments.problems
        for n in SIZES
        for share in SHARES
    )
    csv_rows.record_missing(arguments.work, KEY, cases, run_study)
    lines = table(pd.read_csv(arguments.work)).to_dict("records")
    pages.put(arguments.page, {"bounds": pages.markdown(lines)})


if __name__ == "__main__":
    main()
