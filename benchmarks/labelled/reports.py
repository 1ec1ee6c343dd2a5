"""Reports of a surrogate, or of a robust regression, on a set of measurements: on all values, and on held-out ones."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import robustbo as rb
from benchmarks.labelled.data import LabelledSet
from robustbo import seeds
from robustbo.loop.surrogate.fit import fit
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.surrogates.common.scoring import scores

FOLDS = 10
QUANTILE = 1.6448536269514722  # of the standard normal distribution, that an interval of 90 % has
# What is compared: a surrogate's name in the registry, and its options.
SURROGATES: dict[str, tuple[str, dict[str, Any]]] = {
    "relevance-pursuit": ("relevance-pursuit", {}),
    "student-t": ("student-t", {}),
    "standard": ("standard", {}),
    "plain GP, z > 3": ("standard", {"warp": "none"}),
}
LINEAR = ("Huber", "RANSAC", "RLM")
FAR = 3.0  # standard deviations from what the others predict, or robust ones from the line
BY_DISTANCE = ("plain GP, z > 3",)  # which flag what is `FAR` off


def new_study(dataset: LabelledSet, method: str, rows: Sequence[int]) -> rb.Optimizer:
    """A study that was told some of the values as prior data."""
    surrogate, options = SURROGATES.get(method, (method, {}))
    frame = pd.DataFrame([dataset.points[i] | {"value": dataset.values[i]} for i in rows])
    told: dict[str, Any] = {"surrogate": surrogate, "surrogate_options": options, "prior_data": frame}
    return rb.Optimizer(dataset.space, direction="minimize", seed=0, **told)


def value_reports(dataset: LabelledSet, method: str) -> pd.DataFrame:
    """A row a value, all being told: how probable it is that it is wrong, what is expected, whether it is flagged."""
    reports = sorted(
        new_study(dataset, method, range(len(dataset.values))).outliers(), key=lambda report: report.trial.number
    )
    table = pd.DataFrame(
        {
            "wrong": [report.probability_wrong for report in reports],
            "expected": [report.expected for report in reports],
            "sd": [report.sd for report in reports],
            "flagged": [int(report.flagged) for report in reports],
        }
    )
    if method in BY_DISTANCE:
        z = (np.array(dataset.values) - table["expected"]).abs() / table["sd"]
        return table.assign(wrong=np.nan, flagged=(z > FAR).astype(int))
    return table


def fold_numbers(dataset: LabelledSet) -> np.ndarray:
    """``n`` numbers of the folds in which the values are held out."""
    n = len(dataset.values)
    return seeds.generator(0, 0, f"folds of {dataset.name}").permutation(n) % min(FOLDS, n)


def predict_held_out(dataset: LabelledSet, method: str) -> pd.DataFrame:
    """A row a value: log density in the values' units, and 90 % interval, of a measurement, by a fit to other folds.

    The values of the other folds are all told, wrong ones too. The interval is what a user sees: mean and standard
    deviation, noise included.
    """
    folds, parts = fold_numbers(dataset), []
    for fold in range(folds.max() + 1):
        inside, outside = np.flatnonzero(folds == fold).tolist(), np.flatnonzero(folds != fold).tolist()
        study = new_study(dataset, method, outside)
        fitted = fit(study.settings, study.history)
        parts.append(predictions(dataset, fitted, inside))
    return pd.concat(parts).sort_index()


def predictions(dataset: LabelledSet, fitted: FittedSurrogate, rows: list[int]) -> pd.DataFrame:
    """A row a value that a model has not seen."""
    units = [dataset.space.to_unit(dataset.points[i]) for i in rows]
    values = torch.tensor([dataset.values[i] for i in rows], dtype=torch.float64)
    X, Y = fitted.encoded(units), fitted.units.to_model(values)
    density = [
        -scores(fitted.model, x.unsqueeze(0), y.reshape(1)).nlpd - math.log(fitted.units.scale)
        for x, y in zip(X, Y, strict=True)
    ]
    low, high = interval(fitted, X)
    return pd.DataFrame({"log_density": density, "low": low, "high": high}, index=rows)


def interval(fitted: FittedSurrogate, X: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the 90 % intervals of measurements at ``m x d`` encoded points, in the values' units."""
    mean, sd = map(np.array, fitted.predict(X, is_noisy=True))
    return mean - QUANTILE * sd, mean + QUANTILE * sd


def linear_flags(dataset: LabelledSet, method: str) -> pd.DataFrame:
    """A row a value: whether a robust linear regression takes it for an outlier; texts are columns of zeros and ones.

    Huber and RLM flag what is more than `FAR` of their robust scales from the plane, RANSAC what is no inlier to it
    (the median absolute deviation of the values, as scikit-learn has it).
    """
    inputs = pd.get_dummies(pd.DataFrame(dataset.points), drop_first=True).astype(float)
    X, y = ((inputs - inputs.mean()) / inputs.std(ddof=0)).to_numpy(), np.array(dataset.values)
    flagged = {"Huber": _huber, "RANSAC": _ransac, "RLM": _rlm}[method](X, y)
    return pd.DataFrame({"wrong": np.nan, "expected": np.nan, "sd": np.nan, "flagged": flagged.astype(int)})


def _huber(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import HuberRegressor

    center, scale = np.median(y), np.std(y)  # which lets its search converge; it is equivariant
    model = HuberRegressor(max_iter=10_000).fit(X, (y - center) / scale)
    return np.abs((y - center) / scale - model.predict(X)) > FAR * model.scale_


def _ransac(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import RANSACRegressor

    return ~RANSACRegressor(random_state=0).fit(X, y).inlier_mask_


def _rlm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    import statsmodels.api as sm

    model = sm.RLM(y, sm.add_constant(X)).fit()
    return np.abs(model.resid) > FAR * model.scale
