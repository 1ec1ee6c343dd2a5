"""A value that stands at many points: what the probabilities gain where that is taken for a plateau.

Scores of learners on data sets that scikit-learn ships, cross-validated in three folds, at random hyperparameters: in a
part of the space each learner does the same, or predicts the largest class. None of the scores is wrong, or a tenth are
replaced: within the range of the scores, or off by two of their standard deviations; or a fifth, off by a hundred. Each
data set is told to an optimizer twice, with the rule (docs/equations.md, 6.23) and without. A row has the sums of the
log losses of `probability_wrong`, flags, and values that are called wrong with a probability above 0.99.

    python -m benchmarks.quality.plateaus --work runs/plateaus/rows.csv --page docs/evidence/doubt.md
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from sklearn import datasets, linear_model, svm, tree
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.common.tables import log_loss
from benchmarks.quality.widest_noise import probabilities
from robustbo import seeds
from robustbo.numerics.gp.plateau import plateau_variances
from robustbo.surrogates.pursuit import plateau
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

CLASSES = {"wine": datasets.load_wine, "cancer": datasets.load_breast_cancer, "iris": datasets.load_iris}
KINDS = {
    "none": "none",
    "in-range": "within the range",
    "off": "two standard deviations off",
    "gross": "a fifth, a hundred standard deviations off",
}
SIZES = (30, 60)
RATE = 0.1
RATES = {"none": 0.0, "gross": 0.2}  # of wrong values
SURE = 0.99
KEY = ["seed", "learner", "data", "kind", "n"]
RULES: dict[str, Callable[..., Any]] = {"with": plateau_variances, "without": lambda *_: None}


def _tree(x: np.ndarray) -> Any:
    return tree.DecisionTreeClassifier(
        max_depth=1 + int(9 * x[0]), min_samples_leaf=1 + int(40 * x[1]), ccp_alpha=0.2 * x[2] ** 3, random_state=0
    )


def _regression_tree(x: np.ndarray) -> Any:
    depth, leaf, decrease = 1 + int(9 * x[0]), 1 + int(60 * x[1]), 3e3 * x[2]
    return tree.DecisionTreeRegressor(
        max_depth=depth, min_samples_leaf=leaf, min_impurity_decrease=decrease, random_state=0
    )


def _support_vectors(x: np.ndarray) -> Any:
    return make_pipeline(StandardScaler(), svm.SVC(C=10 ** (6 * x[0] - 3), gamma=10 ** (6 * x[1] - 4)))


def _polynomial(x: np.ndarray) -> Any:
    degree = 1 + int(4 * x[2])
    return make_pipeline(StandardScaler(), svm.SVC(kernel="poly", degree=degree, C=10 ** (6 * x[0] - 5), coef0=x[1]))


def _lasso(x: np.ndarray) -> Any:
    return make_pipeline(StandardScaler(), linear_model.ElasticNet(alpha=10 ** (5 * x[0] - 2), l1_ratio=0.5 + x[1] / 2))


def _sparse_logistic(x: np.ndarray) -> Any:
    learner = linear_model.LogisticRegression(
        penalty="l1", solver="liblinear", C=10 ** (6 * x[0] - 5), intercept_scaling=10 ** (2 * x[1] - 1)
    )
    return make_pipeline(StandardScaler(), learner)


LEARNERS: dict[str, tuple[int, Callable[[np.ndarray], Any], tuple[str, ...]]] = {
    "decision tree": (3, _tree, tuple(CLASSES)),
    "regression tree": (3, _regression_tree, ("diabetes",)),
    "support vectors": (2, _support_vectors, tuple(CLASSES)),
    "polynomial support vectors": (3, _polynomial, tuple(CLASSES)),
    "elastic net": (2, _lasso, ("diabetes",)),
    "sparse regression": (2, _sparse_logistic, ("cancer",)),
}


@lru_cache(maxsize=1)  # all kinds of errors follow one another
def scores(seed: int, learner: str, name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the unit cube, and the scores there."""
    d, make, _ = LEARNERS[learner]
    X = np.random.default_rng(seeds.derive(seed, n, f"{learner} {name}")).random((n, d))
    cases = CLASSES.get(name, datasets.load_diabetes)(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X, np.array([cross_val_score(make(x), *cases, cv=3).mean() for x in X])


def replace_some(seed: int, kind: str, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of which some are wrong, and which."""
    rng, n = np.random.default_rng(seeds.derive(seed, len(y), kind)), len(y)
    is_wrong = rng.random(n) < RATES.get(kind, RATE)
    off = rng.standard_normal(n)
    errors = {"off": y + 2 * y.std() * np.sign(off), "gross": y + 100 * y.std() * off}
    wrong = errors.get(kind, y.min() + np.ptp(y) * rng.random(n))
    return np.where(is_wrong, wrong, y), is_wrong


def row(seed: int, learner: str, name: str, kind: str, n: int) -> Mapping[str, Any]:
    """Scores of the probabilities, with the rule and without."""
    X, y = scores(seed, learner, name, n)
    y, is_wrong = replace_some(seed, kind, y)
    line: dict[str, Any] = dict(zip(KEY, (seed, learner, name, kind, n), strict=True)) | {"wrong": int(is_wrong.sum())}
    standard = RobustStandardize(m=1)(torch.from_numpy(y).unsqueeze(-1))[0].squeeze(-1)
    line["plateau"] = plateau_variances(torch.from_numpy(X), standard, RATE) is not None
    for rule, find in RULES.items():
        with mock.patch.object(plateau, "plateau_variances", find):
            scored = _scores_of(rule, probabilities(X, y) if line["plateau"] else np.zeros(n), is_wrong)
        line |= scored if line["plateau"] else dict.fromkeys(scored)
    return line


def _scores_of(rule: str, p: np.ndarray, is_wrong: np.ndarray) -> dict[str, Any]:
    """Scores of probabilities by a rule."""
    line: dict[str, Any] = {f"loss, {rule}": round(len(p) * log_loss(pd.Series(p), pd.Series(is_wrong)), 4)}
    for limit, label in ((0.5, "flags"), (SURE, "sure")):
        is_said = p > limit
        line |= {f"{label}, {rule}": int(is_said.sum()), f"true {label}, {rule}": int((is_said & is_wrong).sum())}
    return line


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Sums by kind of error over the data sets that have a plateau, with the mean gain and its standard error."""
    rows = rows[rows["plateau"]]
    gain = rows["loss, without"] - rows["loss, with"]
    lines = []
    for kind, part in rows.assign(gain=gain).groupby("kind", sort=False):
        line: dict[str, Any] = {"wrong values": KINDS[str(kind)], "data sets": len(part)}
        line |= {"values": part["n"].sum(), "wrong": part["wrong"].sum()}
        line["gain, nats"] = f"{part['gain'].mean():+.1f} ± {part['gain'].sem():.1f}"
        for rule in RULES:
            line[f"found, {rule}"] = int(part[f"true flags, {rule}"].sum())
            line[f"false flags, {rule}"] = int((part[f"flags, {rule}"] - part[f"true flags, {rule}"]).sum())
            line[f"false > {SURE}, {rule}"] = int((part[f"sure, {rule}"] - part[f"true sure, {rule}"]).sum())
        lines.append(line)
    return {"PLATEAUS": pd.DataFrame(lines)}


def plan(options: Any) -> list[tuple[Any, ...]]:
    """Keys of all rows."""
    surfaces = [(learner, name) for learner, (_, _, names) in LEARNERS.items() for name in names]
    return [(seed, *surface, kind, n) for seed, surface, n, kind in product(options.seeds, surfaces, SIZES, KINDS)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the rows that are missing, and put the table where it is wanted."""
    options = parser_of_seeds(__doc__, 3).parse_args(arguments)
    record_seeds(options, KEY, plan(options), row, tables)


if __name__ == "__main__":
    main()
