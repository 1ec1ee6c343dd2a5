"""Regression tasks: training data of which some are wrong, and test data that are not.

Functions, drawn: Neal's, Friedman's of five active inputs with and without five idle ones, Hartmann6. Real data,
split: Boston, Concrete, Energy, Yacht, California, the CT slices, Neal's own draw, and the Dow Jones minutes
(`robustbo_problems.datasets`). The protocol is Andrade and Takeda's:
split, corrupt the training part alone, then scale inputs and targets by the median and interquartile range of the
corrupted training part. Test targets are never corrupted, but have the noise that the data have.

Inputs, noise, test data, split, the rows to corrupt and the corruption have a random stream each: of one seed, every
corruption meets the same clean data and the same rows; a smaller n takes the first of a larger one's data, a smaller
rate the first of the rows that a larger one corrupts.

References:
    Neal (1997), Monte Carlo implementation of Gaussian process models for Bayesian regression and classification.
    Friedman (1991), Multivariate adaptive regression splines.
    Andrade and Takeda (2023), Robust Gaussian process regression with the trimmed marginal likelihood.
"""

from typing import NamedTuple

import numpy as np

from robustbo import seeds
from robustbo.validation import real, whole_number
from robustbo_problems.datasets import table
from robustbo_problems.regression_corruptions import CORRUPTIONS
from robustbo_problems.regression_functions import FUNCTIONS, sample

TRAINING_ROWS = 100  # of a function's data, unless told: Neal's, and Andrade and Takeda's "F100"
TEST_SHARE = 0.1  # of real data, rounded to whole rows
TABLES = ("boston", "concrete", "energy", "yacht", "california", "ct-slices", "ct-slices-partial", "neal-draw", "djia")
CALIFORNIA_TRAINING_ROWS = 800  # all the rest are test rows (Andrade and Takeda)


class Scaling(NamedTuple):
    """(values - center) / scale, by column.

    Attributes:
        center: ``d`` (of targets: no dimension) medians.
        scale: As many interquartile ranges; 1 where there is none, as in scikit-learn's `RobustScaler`.
    """

    center: np.ndarray
    scale: np.ndarray

    def scale_values(self, values: np.ndarray) -> np.ndarray:
        """Return values in units, scaled."""
        return (values - self.center) / self.scale

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Return scaled values in their units."""
        return values * self.scale + self.center


def robust_scaling(values: np.ndarray) -> Scaling:
    """The scaling by median and interquartile range of each column of ``n x d``, or of ``n`` values."""
    low, center, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
    spread = high - low
    return Scaling(center, np.where(spread < 10 * np.finfo(np.float64).eps, 1.0, spread))


class Task(NamedTuple):
    """A regression task, scaled.

    Attributes:
        X: ``n x d`` training inputs, corrupted where the corruption does that.
        y: ``n`` training targets, corrupted.
        is_corrupted: ``n`` truth values.
        X_test: ``m x d`` clean inputs.
        y_test: ``m`` targets, not corrupted.
        X_scaling: How `X` and `X_test` were scaled.
        y_scaling: How `y` and `y_test` were scaled.
    """

    X: np.ndarray
    y: np.ndarray
    is_corrupted: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    X_scaling: Scaling
    y_scaling: Scaling


class Clean(NamedTuple):
    """Training and test data in their own units, before anything goes wrong; shapes as in `Task`."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def names() -> list[str]:
    """Names of the tasks."""
    return [*FUNCTIONS, *TABLES]


def corruptions() -> list[str]:
    """The corruptions of their training data."""
    return [*CORRUPTIONS]


def options() -> list[str]:
    """The other options of `task`, beside a corruption, its rate and a seed."""
    return ["n", "noise_sd"]


def task(
    name: str,
    *,
    n: int | None = None,
    noise_sd: float | None = None,
    corruption: str = "none",
    rate: float = 0.1,
    seed: int = 0,
) -> Task:
    """A regression task, by its seed.

    Args:
        name: One of `FUNCTIONS` or `TABLES`.
        n: Number of training rows; by default 100 of a function's, 800 of California's, nine tenths of other real data.
        noise_sd: Of a function's data, training and test; its own unless said.
        corruption: One of `CORRUPTIONS`, or "none".
        rate: Share of the training rows that are corrupted: int(rate n) rows, as Andrade and Takeda have it.
        seed: Of all that is drawn.

    Raises:
        ValueError: If a name is unknown, a number is out of its range, or there are not n rows to train on.
        TypeError: If the rate is not a number.
        DataError: If real data cannot be had.
    """
    if name not in names():
        raise ValueError(f"name must be one of {names()}, got {name!r}")
    if corruption not in (kinds := ["none", *corruptions()]):
        raise ValueError(f"corruption must be one of {kinds}, got {corruption!r}")
    if not 0 <= real("rate", rate) <= 1:
        raise ValueError(f"rate must lie in [0, 1], got {rate!r}")
    if n is not None:
        whole_number("n", n, 2)
    whole_number("seed", seed, 0)
    if noise_sd is not None and (name not in FUNCTIONS or not real("noise_sd", noise_sd) >= 0):
        raise ValueError(f"noise_sd must be at least 0 and is for {list(FUNCTIONS)}, got {noise_sd!r} for {name!r}")
    clean = draw_task(name, n, seed, noise_sd) if name in FUNCTIONS else split(name, n, seed)
    return _scale(clean, *_corrupt(clean, corruption, rate, seed))


def draw_task(name: str, n: int | None, seed: int, noise_sd: float | None = None) -> Clean:
    """Draw a function's data."""
    function, n = FUNCTIONS[name], TRAINING_ROWS if n is None else n
    function = function if noise_sd is None else function._replace(noise_sd=noise_sd)
    return Clean(*sample(function, n, seed, "training"), *sample(function, function.num_test, seed, "test"))


def split(name: str, n: int | None, seed: int) -> Clean:
    """Real data: a tenth to test on, n of the others to train on; of California's, all others to test on.

    Two sets have a split of their own. Neal's draw: the first half of its 200 cases to train on, the other half to test
    on (both hold his outliers, which no mask marks). The Dow Jones: minutes of odd row to train on, as in the relevance
    pursuit paper's figure, and those between to test on (ours); its input is the row.

    Raises:
        ValueError: If there are not n rows to train on.
    """
    X, y = table("neal" if name == "neal-draw" else name)
    order, most = _order(name, X, seed)
    n = min(most, CALIFORNIA_TRAINING_ROWS if name == "california" else most) if n is None else n
    if n > most:
        raise ValueError(f"n must be at most {most} for {name}, got {n}")
    train, test = order[:n], order[n if name == "california" else most :]
    return Clean(X[train], y[train], X[test], y[test])


def _order(name: str, X: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """The rows, those to train on first, and how many these are at most."""
    total = len(X)
    if name == "neal-draw":
        return np.arange(total), total // 2
    if name == "djia":
        is_odd = X[:, 0] % 2 == 1
        return np.argsort(~is_odd, kind="stable"), int(is_odd.sum())
    num_test = 1 if name == "california" else round(TEST_SHARE * total)
    return seeds.generator(seed, 0, "split").permutation(total), total - num_test


def _corrupt(clean: Clean, kind: str, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training inputs and targets after the corruption, and which rows it hit."""
    n, is_corrupted = len(clean.y), np.zeros(len(clean.y), dtype=bool)
    if kind == "none":
        return clean.X, clean.y, is_corrupted
    rows = seeds.generator(seed, 0, "corrupted rows").permutation(n)[: int(rate * n)]
    is_corrupted[rows] = True
    return *CORRUPTIONS[kind](clean.X, clean.y, rows, seeds.generator(seed, 0, "corruption")), is_corrupted


def _scale(clean: Clean, X: np.ndarray, y: np.ndarray, is_corrupted: np.ndarray) -> Task:
    """The task, scaled by the corrupted training data."""
    of_X, of_y = robust_scaling(X), robust_scaling(y)
    scaled = (
        of_X.scale_values(X),
        of_y.scale_values(y),
        is_corrupted,
        of_X.scale_values(clean.X_test),
        of_y.scale_values(clean.y_test),
    )
    return Task(*scaled, of_X, of_y)
