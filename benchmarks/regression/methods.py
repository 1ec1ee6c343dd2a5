"""Methods of regression: our regressor, others' robust ones, and what people would take otherwise.

Inputs and targets reach every method as they are. Those that do not scale themselves get them standardized; the targets
of others' robust processes are scaled by their median and quartiles, since wrong values would decide on their spread.
GPy, RobustGP and GPflow need an environment of their own (GPy==1.15.0, robustgp==2.1, gpflow==2.11.2,
tensorflow-cpu==2.21.0), whose Python is named.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import HuberRegressor, RANSACRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.league.protocol import PeerProcess
from benchmarks.regression import rcagp
from benchmarks.regression.rows import Rows
from robustbo.sklearn import RobustGPRegressor

LEVELS = np.linspace(0.005, 0.995, 100)  # of the quantiles that a density is made of


class Prediction(NamedTuple):
    """Predictions of a fitted method.

    Attributes:
        mean: Means of the rows held out.
        log_density: Their log densities; None of a method that predicts no distribution.
        is_flagged: Which training values it calls wrong; None of a method that does not say.
        seconds: Of another process's processor.
    """

    mean: np.ndarray
    log_density: np.ndarray | None
    is_flagged: np.ndarray | None
    seconds: float = 0.0


def by_our_regressor(method: str, rows: Rows) -> Prediction:
    """Prediction by one of our methods; its density is that of a table of quantiles."""
    regressor = RobustGPRegressor(method).fit(rows.X, rows.y)
    mean, ends = regressor.predict(rows.X_test, quantiles=LEVELS.tolist())
    is_flagged = regressor.outlier_mask_ if method != "standard" else None
    return Prediction(mean, log_density_of_quantiles(ends, rows.y_test), is_flagged)


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


class Scaling(NamedTuple):
    """Units of a robust process: means and spreads of the columns, median and spread (by quartiles) of the targets."""

    means: np.ndarray
    spreads: np.ndarray
    center: float
    scale: float

    @classmethod
    def of(cls, rows: Rows) -> "Scaling":
        """The units of the training rows."""
        spreads, low_high = rows.X.std(0), np.quantile(rows.y, [0.25, 0.75])
        scale = float(np.diff(low_high)[0] / np.diff(norm.ppf([0.25, 0.75]))[0]) or float(rows.y.std())
        return cls(rows.X.mean(0), np.where(spreads > 0, spreads, 1.0), float(np.median(rows.y)), scale)

    def apply(self, rows: Rows) -> tuple[np.ndarray, ...]:
        """Inputs and targets of the training rows, and of those held out."""
        inputs = ((X - self.means) / self.spreads for X in (rows.X, rows.X_test))
        targets = ((y - self.center) / self.scale for y in (rows.y, rows.y_test))
        return tuple(part for pair in zip(inputs, targets, strict=True) for part in pair)

    def prediction(
        self, mean: np.ndarray, density: np.ndarray, is_flagged: np.ndarray | None = None, seconds: float = 0.0
    ) -> Prediction:
        """A prediction in the units of the rows."""
        return Prediction(self.center + self.scale * mean, density - np.log(self.scale), is_flagged, seconds)


def by_rcagp(rows: Rows) -> Prediction:
    """Prediction by RCaGP as its equations have it."""
    scaling = Scaling.of(rows)
    return scaling.prediction(*rcagp.predict(*scaling.apply(rows)))


def by_peer(python: Path, name: str, rows: Rows) -> Prediction:
    """Prediction by a method in another Python, of the name that `benchmarks.league.server.serve` has for it.

    Raises:
        PeerError: If it fails.
    """
    scaling, process = Scaling.of(rows), PeerProcess(python, name)
    try:
        process.call("begin")
        columns = zip(("X", "y", "X_test", "y_test"), scaling.apply(rows), strict=True)
        answer = process.call("predict", **{column: part.tolist() for column, part in columns})
    finally:
        process.close()
    is_flagged = None if answer["is_flagged"] is None else np.array(answer["is_flagged"])
    mean, density = np.array(answer["mean"]), np.array(answer["log_density"])
    return scaling.prediction(mean, density, is_flagged, answer["seconds"])


OURS = "RobustGPRegressor"
METHODS: dict[str, Callable[[Rows], Prediction]] = {
    OURS: partial(by_our_regressor, "auto"),
    "student-t": partial(by_our_regressor, "student-t"),
    "conjugate": partial(by_our_regressor, "conjugate"),
    "standard": partial(by_our_regressor, "standard"),
    "trimmed": partial(by_our_regressor, "trimmed"),
    "BoTorch's relevance pursuit": partial(by_our_regressor, "botorch-relevance-pursuit"),
    "GPyTorch's variational Student-t": partial(by_our_regressor, "student-t-variational"),
    "RCaGP": by_rcagp,
    "scikit-learn's GP": by_scikit_learn_gp,
    "Huber": by_huber,
    "RANSAC": by_ransac,
    "boosting, Huber": by_boosted_trees,
}

# In another Python, by their names there
ELSEWHERE = {
    "GPy's Student-t": "gpy-student-t",
    "RobustGP": "robustgp",
    "GPflow's variational Student-t": "gpflow-student-t",
}
NAMES = (*METHODS, *ELSEWHERE)

# Seconds to minutes a fit: only where they are named
SLOW = ("BoTorch's relevance pursuit", "GPyTorch's variational Student-t", "RCaGP", "scikit-learn's GP", *ELSEWHERE)
