"""Robust Gaussian-process regression, in scikit-learn's form."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from robustbo.sklearn.arguments import RowNoise, probabilities
from robustbo.sklearn.copied_rows import measurements_of
from robustbo.sklearn.features import FROM_DTYPE, FeatureEncoder, categorical_columns, dates_as_numbers
from robustbo.sklearn.fit_progress import FitProgress
from robustbo.sklearn.fitted_regression import FittedRegression
from robustbo.sklearn.groups import labels_of
from robustbo.surrogates.common import contract
from robustbo.surrogates.names import NAMES
from robustbo.validation import name_in_registry

Array = NDArray[np.float64]

AUTO = "auto"
EXACT = 2000  # rows that are learned from at most, if nothing else is said


class RobustGPRegressor(RegressorMixin, BaseEstimator):
    """Gaussian-process regression that resists wrong values, and names them.

    Numbers need no scaling: columns are scaled to the range of the training rows, targets by their median and
    quartiles. Hyperparameters are found by the fit.

    Args:
        method: A surrogate's name, such as "relevance-pursuit", "student-t" or "committee"; "auto" is relevance
            pursuit, which learns from 2,000 rows at most, drawn, and judges the others by these.
        method_options: The surrogate's own options, such as ``{"outlier_rate": 0.02}``.
        categorical_features: Columns that are categories: "from_dtype" (columns of a data frame that are no numbers and
            no dates), names, places or booleans, or None.
        random_state: Random state of the drawn rows, of methods that draw, and of `sample_y`.
        verbose: 1 shows on standard error how far `fit` is: the seconds of the search for hyperparameters, and the rows
            judged; 0 shows nothing.

    Attributes:
        outlier_mask_: ``n`` booleans: the training values that are more probably wrong than right (for a method without
            this probability, those that it treats as outliers).
        probability_wrong_: ``n`` probabilities that a training value is wrong; None where the method has none.
        expected_: ``n`` values that the other rows predict.
        expected_sd_: ``n`` standard deviations of these predictions, noise included.
        evidence_: ``n`` log-likelihood ratios, in nats, of a value having an error of its own.
        group_errors_: A data frame with a row a group, the most probable error first: group (None for all rows since
            one), kind ("offset", "step", "drift", "broken", "block" for a difference between all), error (how much too
            high), sd, since (a row), probability; None without groups.
        kernel_: The kernel with its hyperparameters, as scikit-learn's, for inputs scaled to [0, 1] and standardized
            targets; None of methods whose kernel has another form.
        log_marginal_likelihood_value_: Log marginal likelihood of the training values at these hyperparameters, in the
            units of the fit; None if the method maximizes something else.
        method_: The surrogate that was fitted.
        approximation_: A sentence: exact, or by which approximation.
        model_: The fitted BoTorch model.
        n_features_in_: Number of columns.
        feature_names_in_: Their names, where they are texts.

    Raises:
        ValueError: If an argument breaks its rule.
        FitError: If no hyperparameters give a finite likelihood.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md sections 6 and 19.

    Example:
        >>> import numpy as np
        >>> X = np.linspace(0, 1, 25)[:, None]
        >>> y = np.sin(6 * X[:, 0])
        >>> y[4] += 5.0
        >>> regressor = RobustGPRegressor().fit(X, y)
        >>> np.flatnonzero(regressor.outlier_mask_).tolist()
        [4]
        >>> mean, sd = regressor.predict(X[[4]], return_std=True)
        >>> bool(abs(mean[0] - np.sin(6 * X[4, 0])) < 0.02)
        True
    """

    def __init__(
        self,
        method: str = AUTO,
        *,
        method_options: Mapping[str, Any] | None = None,
        categorical_features: Any = FROM_DTYPE,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.method_options = method_options
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_sd: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "RobustGPRegressor":
        """Fit to ``n`` rows.

        Args:
            X: ``n x d`` rows.
            y: ``n`` target values; some may be wrong.
            sample_weight: ``n`` weights, by which the noise variance of a right value is divided: the mean of two
                measurements has twice the weight of a single one. A row of weight 0 is judged, and the fit does not
                learn from it. Only the ratios of weights count ("relevance-pursuit" and "standard" only).
            noise_sd: Standard deviation of the noise of right values, if known: one number, or ``n`` with NaN for
                unknown ones ("relevance-pursuit" and "standard" only).
            groups: ``n`` labels, such as the batch or the instrument of each row, any of which may be in error
                ("relevance-pursuit" only); rows must be in the order of time. Predictions leave the errors out.

        Returns:
            The regressor itself.
        """
        X, y = self._training_rows(X, y)
        method = "relevance-pursuit" if self.method == AUTO else self.method
        name_in_registry("method", method, [AUTO, *sorted(NAMES)])
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        noise = RowNoise.of(noise_sd, sample_weight, len(y))
        labels = None if groups is None else labels_of(groups, len(y))
        told = measurements_of(X, y, noise, groups)
        if not told.is_first.all():
            X, y, noise = told.of(X), np.asarray(told.of(y)), noise.at(told.is_first)
            labels = None if labels is None else labels.among(np.flatnonzero(told.is_first))
        n = len(y)
        if self.method == AUTO and n > EXACT:
            noise = noise.among(EXACT, n, np.random.default_rng(seed))
        inputs = self._encode(X, noise.counts)
        options = dict(self.method_options or {})
        self.method_ = method
        progress = FitProgress(self.verbose > 0)
        count = n if noise.counts is None else int(noise.counts.sum())
        with progress.stage(f"fitting {method} to {count:,} rows"):
            self._fitted = FittedRegression.fit(method, options, inputs, y, noise, seed, labels)
        for name, value in told.on_rows(self._fitted.diagnose(progress)).items():
            setattr(self, name, value)
        self.model_, self.kernel_ = self._fitted.model, self._fitted.kernel
        self.log_marginal_likelihood_value_ = contract.log_likelihood(self.model_)
        self.approximation_ = self._fitted.approximation
        return self

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """Predict the function at ``m`` rows.

        Args:
            X: ``m x d`` rows.
            return_std: Whether to return standard deviations of the function.
            return_cov: Whether to return its covariance, which has ``m`` times ``m`` numbers.
            quantiles: Probabilities between 0 and 1 for quantiles of a new, right measurement: function and noise, with
                tails.

        Returns:
            ``m`` means; with one of the other arguments a pair of these and ``m`` standard deviations, an ``m x m``
            covariance, or ``m x q`` quantiles.
        """
        check_is_fitted(self)
        if return_std + return_cov + (quantiles is not None) > 1:
            raise RuntimeError("at most one of return_std, return_cov and quantiles can be requested, got more")
        inputs = self._inputs(X)
        if return_cov:
            return self._fitted.joint(inputs)
        mean, sd = self._fitted.marginals(inputs)
        if quantiles is not None:
            return mean, self._fitted.quantiles(inputs, probabilities(quantiles))
        return (mean, sd) if return_std else mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: int | np.random.RandomState | None = 0) -> Array:
        """Draw the function at ``m`` rows: ``m x n_samples`` values."""
        check_is_fitted(self)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        return self._fitted.samples(self._inputs(X), n_samples, seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, Array]:
        X = dates_as_numbers(X)
        self._categorical = categorical_columns(X, self.categorical_features) if hasattr(X, "shape") else []
        if not self._categorical:
            X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
            return X, np.asarray(y, dtype=np.float64)
        _, y = validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
        if len(y) != len(X):
            raise ValueError(f"X and y must have as many rows, got {len(X)} and {len(y)}")
        return X, y

    def _encode(self, X: Any, counts: NDArray[np.bool_] | None) -> Array:
        rows = X if counts is None else getattr(X, "loc", X)[counts]
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        self._encoder = FeatureEncoder(rows, self._categorical, names)
        return self._encoder(X)

    def _inputs(self, X: Any) -> Array:
        X = dates_as_numbers(X)
        if self._categorical:
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._encoder(X)
