"""Tuning a support vector regressor, minimized: three parameters on logarithmic scales, the test error as the value.

The paper trains on 100 features of the CT slices, and does not say which: here they are those that correlate most with
the target. Where that set cannot be had, California housing by the same recipe takes its place (the preset "small").

References:
    Ament et al. (2024), relevance pursuit, appendix on real-world problems; the scaling is that of Eriksson and others'
    mixed SVM problem (bo_pr).
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from robustbo.errors import DataError
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo.validation import whole_number
from robustbo_problems.datasets import TABLES, table

try:
    from sklearn.svm import SVR
except ImportError:  # of the extra "problems"
    SVR = None

FEATURES = 100
FEWEST, MOST = 100, 1000  # rows that are left when reading fails; the paper's
SPACE = Space(C=Float(1e-2, 1e2, log=True), epsilon=Float(1e-2, 1.0, log=True), gamma=Float(1e-3, 1e-1, log=True))


class Preset(NamedTuple):
    """A data set, how many rows to train on and to test on, and seconds of an evaluation on one core."""

    dataset: str
    train_rows: int
    test_rows: int
    cost_s: float | None = None


class Split(NamedTuple):
    """Rows to train on and to test on, scaled."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


PRESETS = {"small": Preset("california", 2000, 2000, 0.3), "paper": Preset("ct-slices", 50_000, 3_500)}
BEST_SEEN = {PRESETS["small"]: (0.554625511594403, {"C": 100.0, "epsilon": 0.34010844872, "gamma": 0.1})}


def svm(
    preset: str = "small", dataset: str | None = None, train_rows: int | None = None, test_rows: int | None = None
) -> Problem:
    """The problem: the root mean squared error on the test rows, in standard deviations of the target.

    Args:
        preset: "small", or "paper", whose data must be had first (see `robustbo_problems.data_source`).
        dataset: Another data set, one of `robustbo_problems.datasets.TABLES`.
        train_rows: Another number of rows to train on.
        test_rows: Another number of rows to test on.

    Raises:
        ValueError: If there is no such preset or data set, or a number is less than 2.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {sorted(PRESETS)}, got {preset!r}")
    if dataset is not None and dataset not in TABLES:
        raise ValueError(f"dataset must be one of {sorted(TABLES)}, got {dataset!r}")
    settings = PRESETS[preset]
    if any(option is not None for option in (dataset, train_rows, test_rows)):
        rows = settings.train_rows if train_rows is None else whole_number("train_rows", train_rows, 2)
        tests = settings.test_rows if test_rows is None else whole_number("test_rows", test_rows, 2)
        settings = Preset(dataset or settings.dataset, rows, tests)
    value, point = BEST_SEEN.get(settings, (None, None))
    return Problem(
        name="svm",
        space=SPACE,
        direction="minimize",
        objective=partial(error, settings),
        best_seen=value,
        best_seen_at=point,
        cost_s=settings.cost_s,
        reference=f"Ament et al. (2024), appendix; data: {settings.dataset}",
        failures={"io-failure": partial(io_failure, settings)},
    )


def error(preset: Preset, params: Mapping[str, Any], rows: np.ndarray | slice = slice(None)) -> float:
    """The test error of a regressor trained on some of the rows."""
    if SVR is None:
        raise DataError("svm needs scikit-learn, which is not here; pip install 'robustbo[problems]'")
    data = split(preset)
    model = SVR(C=params["C"], epsilon=params["epsilon"], gamma=params["gamma"]).fit(data.X[rows], data.y[rows])
    return float(np.sqrt(np.mean((model.predict(data.X_test) - data.y_test) ** 2)))


def io_failure(preset: Preset, params: Mapping[str, Any], generator: np.random.Generator) -> float:
    """The test error where only U[100, 1000] of the training rows could be read, or all where there are fewer."""
    count = min(int(generator.integers(FEWEST, MOST + 1)), preset.train_rows)
    return error(preset, params, generator.choice(preset.train_rows, count, replace=False))


@lru_cache(maxsize=2)
def split(preset: Preset) -> Split:
    """The data of a preset: columns that vary scaled to [-1, 1], targets standardized, rows shuffled by a fixed seed.

    Raises:
        DataError: If the data cannot be had, or are too few.
    """
    X, y = table(preset.dataset)
    if len(y) < preset.train_rows + preset.test_rows:
        needs = f"{preset.train_rows} rows to train on and {preset.test_rows} to test on"
        raise DataError(f"svm needs {needs}, {preset.dataset} has {len(y)}; choose fewer, or another dataset")
    X = X[:, X.min(0) < X.max(0)]
    X = 2 * (X - X.min(0)) / (X.max(0) - X.min(0)) - 1
    y = (y - y.mean()) / y.std()
    order = np.random.RandomState(0).permutation(len(y))
    train, test = np.split(order[: preset.train_rows + preset.test_rows], [preset.train_rows])
    columns = relevant(X[train], y[train])
    return Split(X[np.ix_(train, columns)], y[train], X[np.ix_(test, columns)], y[test])


def relevant(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The columns, at most `FEATURES`, that correlate most with the target; in their order."""
    spread = X.std(0)
    correlation = np.abs((X - X.mean(0)).T @ (y - y.mean())) / np.where(spread > 0, spread, np.inf)
    return np.sort(np.argsort(-correlation, kind="stable")[:FEATURES])
