"""Tuning a support vector regressor and boosted trees, minimized, on data that scikit-learn brings along.

The error is that of `robustbo_problems.conditional`: cross-validation in three fixed parts of the diabetes data, root
mean squared, in standard deviations of the target. Trees are drawn with a fixed seed, so that nothing is left to
chance.

References:
    Efron, Hastie, Johnstone and Tibshirani (2004), Least angle regression, for the data.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from robustbo.errors import DataError
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo_problems.conditional import cross_validation_error

try:
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.svm import SVR
except ImportError:  # of the extra "problems"
    SVR = None

REFERENCE = "data: Efron et al. (2004)"


def _error(params: Mapping[str, Any], of: str) -> float:
    if SVR is None:
        raise DataError(f"{of} needs scikit-learn, which is not here; pip install 'robustbo[problems]'")
    options = dict(params) | ({} if of == "svr-diabetes" else {"random_state": 0})
    return cross_validation_error(partial(SVR if of == "svr-diabetes" else GradientBoostingRegressor, **options))


svr_diabetes = Problem(
    name="svr-diabetes",
    space=Space(C=Float(1e-2, 1e3, log=True), epsilon=Float(1e-3, 1.0, log=True), gamma=Float(1e-4, 1.0, log=True)),
    direction="minimize",
    objective=partial(_error, of="svr-diabetes"),
    best_seen=0.6904630262557128,
    best_seen_at={"C": 1.0411176083132854, "epsilon": 0.30221597291866037, "gamma": 0.026061704473845027},
    cost_s=0.03,
    reference=REFERENCE,
)

boosting_diabetes = Problem(
    name="boosting-diabetes",
    space=Space(
        n_estimators=Int(5, 50, log=True),
        learning_rate=Float(0.01, 1.0, log=True),
        max_depth=Int(1, 4),
        min_samples_leaf=Int(1, 50, log=True),
        subsample=Float(0.3, 1.0),
        loss=Choice("squared_error", "absolute_error", "huber"),
    ),
    direction="minimize",
    objective=partial(_error, of="boosting-diabetes"),
    best_seen=0.7208459405979433,
    best_seen_at={
        "n_estimators": 49,
        "learning_rate": 0.09824263065113804,
        "max_depth": 2,
        "min_samples_leaf": 12,
        "subsample": 0.6158067817397087,
        "loss": "huber",
    },
    cost_s=0.1,
    reference=REFERENCE,
)
