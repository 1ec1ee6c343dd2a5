"""Regression of ten thousand to a million rows: which way of seeing many rows predicts best in a given time.

A tenth of the training targets, or none, is wrong (shifted up or down by three to nine standard deviations); 2,000 rows
to be predicted are not. Compared are root mean squared error and mean log density, in standard deviations of the rows
held out, precision and recall of what is called wrong, seconds of the processor for fit and judgement and for the
prediction of the 2,000 rows, and the peak memory of the process. Each case has a process of its own; a row that is
there is not computed again.

    ROBUSTBO_DATA=../shared/data python -m benchmarks.regression.sizes --sizes 10000 100000 --out ROWS \
        --page runs/regression/tables.md
    python -m benchmarks.regression.sizes --tables mine.npz --sizes 50000 --out ROWS  # with arrays X and y

Tables: "friedman5" and "hartmann6", drawn, of any size; "california"; or a file with arrays ``X`` and ``y``.
"""

import multiprocessing
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.csv_rows import record_missing
from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import peak_mib
from benchmarks.regression.methods import LEVELS, log_density_of_quantiles
from robustbo import seeds
from robustbo.sklearn import RobustGPRegressor
from robustbo_problems.datasets import table
from robustbo_problems.regression_corruptions import CORRUPTIONS
from robustbo_problems.regression_functions import FUNCTIONS, sample

HELD_OUT = 2000
KEY = ("table", "size", "rate", "seed", "method")
Fit = Callable[[np.ndarray, np.ndarray], RobustGPRegressor]


def _committee(X: np.ndarray, y: np.ndarray, **options: Any) -> RobustGPRegressor:
    return RobustGPRegressor("committee", method_options=options).fit(X, y)


def _subset(X: np.ndarray, y: np.ndarray, count: int) -> RobustGPRegressor:
    """Relevance pursuit of some rows, drawn, by which the others are judged."""
    counts = np.isin(np.arange(len(y)), np.random.default_rng(0).permutation(len(y))[:count])
    return RobustGPRegressor("relevance-pursuit").fit(X, y, sample_weight=counts.astype(float))


def _auto(X: np.ndarray, y: np.ndarray) -> RobustGPRegressor:
    return RobustGPRegressor(random_state=0).fit(X, y)


METHODS: dict[str, Fit] = {
    "auto": _auto,
    "pursuit of 1,000": partial(_subset, count=1000),
    "pursuit of 2,000": partial(_subset, count=2000),
    "committee": partial(_committee, fit_experts=16),
    "committee of neighbours": partial(_committee, fit_experts=16, partition="clustered"),
    "committee of 512 neighbours": partial(_committee, fit_experts=8, partition="clustered", expert_size=512),
    "computation-aware": lambda X, y: RobustGPRegressor("computation-aware").fit(X, y),
}


def rows_of(name: str, size: int, rate: float, seed: int) -> tuple[np.ndarray, ...]:
    """Training inputs, targets and which are wrong; inputs and targets held out.

    Raises:
        SystemExit: If the table has fewer rows.
    """
    n = size + HELD_OUT
    if name in FUNCTIONS:
        X, y = sample(FUNCTIONS[name], n, seed, "rows")
    else:
        arrays = np.load(name) if name.endswith(".npz") else table(name)._asdict()
        X, y = np.asarray(arrays["X"], dtype=float), np.asarray(arrays["y"], dtype=float)
        if len(y) < n:
            raise SystemExit(f"{name} must have {n:,} rows for a size of {size:,}, has {len(y):,}; name a smaller size")
        order = seeds.generator(seed, 0, f"rows {name}").permutation(len(y))[:n]
        X, y = X[order], y[order]
    wrong = seeds.generator(seed, 0, "wrong rows").permutation(size)[: round(rate * size)]
    values = y[:size]
    if len(wrong):
        _, values = CORRUPTIONS["uniform"](X[:size], values, wrong, seeds.generator(seed, 0, "wrong targets"))
    return X[:size], values, np.isin(np.arange(size), wrong), X[size:], y[size:]


def measure(name: str, size: int, rate: float, seed: int, method: str) -> dict[str, Any]:
    """The row of a case, from a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure_here, (name, size, rate, seed, method))


def measure_here(name: str, size: int, rate: float, seed: int, method: str) -> dict[str, Any]:
    """The row of a case."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of climbs that end at a bound
    X, y, is_wrong, X_test, y_test = rows_of(name, size, rate, seed)
    started = time.process_time()
    regressor = METHODS[method](X, y)
    fitted = time.process_time()
    mean, ends = regressor.predict(X_test, quantiles=LEVELS.tolist())
    predicted, spread, flags = time.process_time(), y_test.std(), regressor.outlier_mask_
    row: dict[str, Any] = dict(zip(KEY, (name, size, rate, seed, method), strict=True))
    row["rmse"] = np.sqrt(np.square(mean - y_test).mean()) / spread
    row["log_density"] = log_density_of_quantiles(ends, y_test).mean() + np.log(spread)
    row |= {"flagged": int(flags.sum()), "hits": int((flags & is_wrong).sum()), "wrong": int(is_wrong.sum())}
    return row | {"fit_s": fitted - started, "predict_s": predicted - fitted, "mib": peak_mib()}


def tables(rows: pd.DataFrame) -> dict[str, str]:
    """The table of the page: a line a table, size and method, with and without wrong values."""
    lines = []
    for (name, size, method), of in rows.groupby(["table", "size", "method"], sort=False):
        wrong, clean = of[of["rate"] > 0], of[of["rate"] == 0]
        line = {"table": Path(str(name)).stem, "rows": f"{size:,}", "method": method}
        line |= {"RMSE, none": _mean(clean["rmse"], 3), "RMSE, a tenth": _mean(wrong["rmse"], 3)}
        line |= {"log density, none": _mean(clean["log_density"], 2)}
        line |= {"log density, a tenth": _mean(wrong["log_density"], 2)}
        line["precision"] = f"{wrong['hits'].sum() / max(wrong['flagged'].sum(), 1):.3f}" if len(wrong) else ""
        line["recall"] = f"{wrong['hits'].sum() / wrong['wrong'].sum():.3f}" if len(wrong) else ""
        line |= {"fit, s": f"{of['fit_s'].mean():.0f}", "2,000 predictions, s": f"{of['predict_s'].mean():.1f}"}
        lines.append(line | {"MiB": f"{of['mib'].max():.0f}"})
    return {"sizes": pages.markdown(lines)}


def _mean(values: pd.Series, digits: int) -> str:
    return "" if values.empty else f"{values.mean():.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not recorded, and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--tables", nargs="+", default=["friedman5", "california"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0, 0.1])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=[*METHODS])
    parser.add_argument("--out", type=Path, required=True)
    add_page(parser)
    options = parser.parse_args(arguments)
    cases = product(options.tables, options.sizes, options.rates, options.seeds, options.methods)
    record_missing(options.out, KEY, cases, measure)
    pages.put(options.page, tables(pd.read_csv(options.out)))


if __name__ == "__main__":
    main()
