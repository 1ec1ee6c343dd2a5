"""Regression of tables with wrong values, by our regressor and by what people would take otherwise.

Rows are split at random, a fifth of them to be predicted; a tenth of the training targets is wrong (none, shifted up or
down, or all shifted one way, by three to nine standard deviations), the rows to be predicted are not. Compared are the
root mean squared error, the mean log density of the rows held out (of methods that predict a distribution), precision
and recall of what is called wrong, and seconds of the processor. All methods meet the same rows. Inputs and targets
reach every method as they are, scaled by a `StandardScaler` before those that do not scale themselves.

    ROBUSTBO_DATA=../shared/data python -m benchmarks.quality.regression --seeds 0 1 2 --out runs/regression/rows.csv \
        --page docs/evidence/regression.md
"""

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import HuberRegressor, RANSACRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import pages
from benchmarks.common.commands import add_page, parser_of
from benchmarks.common.csv_rows import record_missing
from robustbo import seeds
from robustbo.sklearn import RobustGPRegressor
from robustbo_problems import regression
from robustbo_problems.regression_corruptions import CORRUPTIONS

TABLES = ("boston", "concrete", "diabetes", "energy", "yacht")
KINDS = ("none", "uniform", "asymmetric")
RATE, HELD_OUT, MOST = 0.1, 0.2, 500  # share of wrong targets and of rows to predict; rows at most
LEVELS = np.linspace(0.005, 0.995, 100)  # of the quantiles that a density is made of


class Case(NamedTuple):
    """A table, what is wrong with it, and the seed of its split."""

    table: str
    kind: str
    seed: int


class Rows(NamedTuple):
    """Training rows, which of them are wrong, and rows to predict."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Prediction(NamedTuple):
    """Predictions of a fitted method: means, log densities of the rows held out, and what it calls wrong."""

    mean: np.ndarray
    log_density: np.ndarray | None
    is_flagged: np.ndarray | None


def rows_of(case: Case) -> Rows:
    """The rows of a case, the same for each method."""
    X, y = _table(case.table)
    order = seeds.generator(case.seed, 0, f"split {case.table}").permutation(len(y))[:MOST]
    test, train = np.split(order, [round(HELD_OUT * len(order))])
    n = len(train)
    wrong = seeds.generator(case.seed, 0, "wrong rows").permutation(n)[: round(RATE * n)]
    values = y[train]
    if case.kind != "none":
        _, values = CORRUPTIONS[case.kind](X[train], values, wrong, seeds.generator(case.seed, 0, "wrong targets"))
    is_wrong = np.isin(np.arange(n), wrong) & (case.kind != "none")
    return Rows(X[train], values, is_wrong, X[test], y[test])


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y
    parts = regression.split(name, None, 0)
    return np.vstack([parts.X, parts.X_test]), np.concatenate([parts.y, parts.y_test])


def by_our_regressor(method: str, rows: Rows) -> Prediction:
    """Prediction by one of our methods; its density is that of a table of quantiles."""
    regressor = RobustGPRegressor(method).fit(rows.X, rows.y)
    mean, ends = regressor.predict(rows.X_test, quantiles=LEVELS.tolist())
    return Prediction(mean, log_density_of_quantiles(ends, rows.y_test), regressor.outlier_mask_)


def log_density_of_quantiles(ends: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``m`` log densities of a distribution with ``m x q`` quantiles at `LEVELS`.

    Between two quantiles, and beyond the last ones, the score that a standard normal variable would have is linear.
    """
    scores, rows = norm.ppf(LEVELS), np.arange(len(y))
    above = np.array([np.searchsorted(row, value) for row, value in zip(ends, y, strict=True)]).clip(1, len(LEVELS) - 1)
    width = np.maximum(ends[rows, above] - ends[rows, above - 1], 1e-12)
    slope = (scores[above] - scores[above - 1]) / width
    return norm.logpdf(scores[above] + slope * (y - ends[rows, above])) + np.log(slope)


def by_scikit_learn_gp(rows: Rows) -> Prediction:
    """Prediction by scikit-learn's GP, Matern-5/2 with a length-scale a column and noise, from three starts."""
    d = rows.X.shape[1]
    shape = Matern(np.ones(d), (1e-2, 1e3), nu=2.5)
    kernel = ConstantKernel(1.0) * shape + WhiteKernel(0.1, (1e-6, 1e1))
    gp = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
    scaled = make_pipeline(StandardScaler(), gp)
    center, scale = rows.y.mean(), rows.y.std()
    scaled.fit(rows.X, (rows.y - center) / scale)
    mean, sd = scaled.predict(rows.X_test, return_std=True)
    mean, sd = center + scale * mean, scale * sd
    return Prediction(mean, norm.logpdf(rows.y_test, mean, sd), None)


def by_huber(rows: Rows) -> Prediction:
    """Prediction by Huber's linear regression."""
    model = make_pipeline(StandardScaler(), HuberRegressor(max_iter=2000)).fit(rows.X, rows.y)
    return Prediction(model.predict(rows.X_test), None, model[-1].outliers_)


def by_ransac(rows: Rows) -> Prediction:
    """Prediction by linear regression on a consensus set."""
    model = make_pipeline(StandardScaler(), RANSACRegressor(random_state=0)).fit(rows.X, rows.y)
    return Prediction(model.predict(rows.X_test), None, ~model[-1].inlier_mask_)


def by_boosted_trees(rows: Rows) -> Prediction:
    """Prediction by gradient-boosted trees with Huber's loss."""
    trees = GradientBoostingRegressor(loss="huber", random_state=0, n_estimators=300)
    model = TransformedTargetRegressor(trees, transformer=StandardScaler()).fit(rows.X, rows.y)
    return Prediction(model.predict(rows.X_test), None, None)


METHODS: dict[str, Callable[[Rows], Prediction]] = {
    "RobustGPRegressor": partial(by_our_regressor, "auto"),
    "student-t": partial(by_our_regressor, "student-t"),
    "conjugate": partial(by_our_regressor, "conjugate"),
    "standard": partial(by_our_regressor, "standard"),
    "BoTorch's relevance pursuit": partial(by_our_regressor, "botorch-relevance-pursuit"),
    "GPyTorch's variational Student-t": partial(by_our_regressor, "student-t-variational"),
    "scikit-learn's GP": by_scikit_learn_gp,
    "Huber": by_huber,
    "RANSAC": by_ransac,
    "boosting, Huber": by_boosted_trees,
}


SLOW = ("BoTorch's relevance pursuit",)  # minutes a fit: only where it is named


def measure(table: str, kind: str, seed: int, method: str) -> dict[str, Any]:
    """The row of a method and a case; errors and log densities in standard deviations of the rows held out."""
    torch.set_num_threads(1)
    rows, started = rows_of(Case(table, kind, seed)), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of climbs that end at a bound
        prediction = METHODS[method](rows)
    seconds, spread = time.process_time() - started, rows.y_test.std()
    row: dict[str, Any] = {"table": table, "kind": kind, "seed": seed, "method": method}
    row |= {"rows": len(rows.y), "rmse": np.sqrt(np.square(prediction.mean - rows.y_test).mean()) / spread}
    row["log_density"] = np.nan if prediction.log_density is None else prediction.log_density.mean() + np.log(spread)
    hits = None if prediction.is_flagged is None else (prediction.is_flagged & rows.is_wrong).sum()
    row["flagged"] = np.nan if prediction.is_flagged is None else int(prediction.is_flagged.sum())
    row |= {"hits": np.nan if hits is None else int(hits), "wrong": int(rows.is_wrong.sum()), "seconds": seconds}
    return row


def tables(rows: pd.DataFrame) -> dict[str, str]:
    """Tables of all rows: means over tables and seeds by kind, and the errors table by table."""
    lines, by_table = [], []
    for method in (name for name in METHODS if name in set(rows["method"])):
        mine = rows[rows["method"] == method]
        line = {"method": method}
        for kind in KINDS:
            of = mine[mine["kind"] == kind]
            line |= {f"RMSE, {kind}": f"{of['rmse'].mean():.3f}", f"log density, {kind}": _number(of["log_density"])}
        wrong = mine[mine["kind"] != "none"]
        is_silent = wrong["flagged"].isna().all()
        precision = wrong["hits"].sum() / max(wrong["flagged"].sum(), 1)
        line["precision"] = "" if is_silent else f"{precision:.2f}"
        line["recall"] = "" if is_silent else f"{wrong['hits'].sum() / wrong['wrong'].sum():.2f}"
        line["seconds"] = f"{mine['seconds'].median():.2g}"
        lines.append(line)
        for kind in KINDS:
            means = mine[mine["kind"] == kind].groupby("table")["rmse"].mean()
            by_table.append(
                {"wrong": kind, "method": method} | {name: f"{means.get(name, np.nan):.3f}" for name in TABLES}
            )
    by_table.sort(key=lambda line: KINDS.index(line["wrong"]))
    return {"methods": pages.markdown(lines), "tables": pages.markdown(by_table)}


def _number(values: pd.Series) -> str:
    return "" if values.isna().all() else f"{values.mean():.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not recorded, and write the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--tables", choices=TABLES, nargs="+", default=TABLES)
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=[name for name in METHODS if name not in SLOW])
    parser.add_argument("--out", type=Path, required=True)
    add_page(parser)
    options = parser.parse_args(arguments)
    cases = product(options.tables, KINDS, options.seeds, options.methods)
    record_missing(options.out, ("table", "kind", "seed", "method"), sorted(cases, key=lambda case: case[2]), measure)
    pages.put(options.page, tables(pd.read_csv(options.out)))


if __name__ == "__main__":
    main()
