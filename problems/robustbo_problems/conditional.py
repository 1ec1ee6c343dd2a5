"""Choosing a regressor and tuning it, minimized: which parameters there are follows from what is chosen.

The error is that of cross-validation in three fixed parts of the diabetes data that scikit-learn brings along (442
patients, 10 inputs): root mean squared, in standard deviations of the target. A kernel ridge has a width where its
kernel has one, and a degree where that is a polynomial; neighbors have a number and weights; boosted trees a number, a
depth and a rate. Nothing of it is drawn.

References:
    Efron, Hastie, Johnstone and Tibshirani (2004), Least angle regression, for the data.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from robustbo.errors import DataError
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

try:
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsRegressor
except ImportError:  # of the extra "problems"
    load_diabetes = None

PARTS = 3
WORST = 2.0  # of an error: worse ones, of polynomials that explode, are this


@cache
def data() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs and targets, both standardized, and the rows of each part.

    Raises:
        DataError: If scikit-learn is not installed.
    """
    if load_diabetes is None:
        raise DataError("conditional needs scikit-learn, which is not here; pip install 'robustbo[problems]'")
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.RandomState(0).permutation(len(y))
    return (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std(), np.array_split(rows, PARTS)


def error(params: Mapping[str, Any]) -> float:
    """The cross-validation error of a configuration."""
    return cross_validation_error(partial(regressor, params))


def cross_validation_error(make: Callable[[], Any]) -> float:
    """The error of a regressor on the parts, each after a fit to the others; at most `WORST`."""
    X, y, parts = data()
    squares = 0.0
    for part in parts:
        rest = np.setdiff1d(np.arange(len(y)), part)
        squares += float(((make().fit(X[rest], y[rest]).predict(X[part]) - y[part]) ** 2).sum())
    return min((squares / len(y)) ** 0.5, WORST)


def regressor(params: Mapping[str, Any]) -> Any:
    """Return the regressor of a configuration, not yet fitted."""
    if params["model"] == "neighbors":
        return KNeighborsRegressor(params["neighbors"], weights=params["weights"])
    if params["model"] == "boosting":
        size = {"n_estimators": params["trees"], "max_depth": params["depth"]}
        return GradientBoostingRegressor(learning_rate=params["rate"], random_state=0, **size)
    shape = {"gamma": params.get("gamma"), "degree": params.get("degree", 1), "coef0": 1.0}
    return KernelRidge(kernel=params["kernel"], alpha=params["alpha"], **shape)


conditional = Problem(
    name="conditional",
    space=Space(
        model=Choice("ridge", "neighbors", "boosting"),
        kernel=Choice("linear", "rbf", "poly", when={"model": "ridge"}),
        alpha=Float(1e-3, 1e3, log=True, when={"model": "ridge"}),
        gamma=Float(1e-4, 1.0, log=True, when={"kernel": ["rbf", "poly"]}),
        degree=Int(2, 5, when={"kernel": "poly"}),
        neighbors=Int(1, 100, log=True, when={"model": "neighbors"}),
        weights=Choice("uniform", "distance", when={"model": "neighbors"}),
        trees=Int(5, 25, when={"model": "boosting"}),
        depth=Int(1, 3, when={"model": "boosting"}),
        rate=Float(0.03, 1.0, log=True, when={"model": "boosting"}),
    ),
    direction="minimize",
    objective=error,
    best_seen=0.6962839419877874,
    best_seen_at={"model": "ridge", "kernel": "rbf", "alpha": 0.46118860, "gamma": 0.018326040},
    cost_s=0.03,
    reference="data: Efron et al. (2004)",
)
