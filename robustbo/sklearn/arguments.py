"""Arguments of the regressor: what is known of the noise of rows, how much each counts, and which quantiles."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class RowNoise(NamedTuple):
    """The noise of right values, row by row.

    Attributes:
        variance: ``n`` known noise variances, NaN of rows where none is known; None where none is of any.
        weight: ``n`` weights of mean 1, by which the noise variance of a row is divided; None where all are equal.
    """

    variance: Array | None
    weight: Array | None

    @classmethod
    def of(cls, noise_sd: ArrayLike | None, sample_weight: ArrayLike | None, n: int) -> Self:
        """The noise of ``n`` rows.

        Raises:
            ValueError: If there are not as many, or one cannot be.
        """
        return cls(_variances(noise_sd, n), _weights(sample_weight, n))

    @property
    def is_mixed(self) -> bool:
        """Return whether noise is learned that is not the same in all rows."""
        if self.variance is None:
            return self.weight is not None
        return bool(np.isnan(self.variance).any())

    @property
    def counts(self) -> NDArray[np.bool_] | None:
        """``n`` truth values: the rows that count at all; None where all do."""
        return None if self.weight is None or (self.weight > 0).all() else self.weight > 0

    @property
    def complete(self) -> Array | None:
        """``n`` noise variances, where all are known."""
        return None if self.variance is None or self.is_mixed else self.variance / self._divisor

    @property
    def parts(self) -> tuple[Array, Array]:
        """``n`` known noise variances, 0 where none is known, and ``n`` shares of the one that is learned."""
        variance = np.asarray(np.nan if self.variance is None else self.variance)
        return np.nan_to_num(variance) / self._divisor, np.isnan(variance) / self._divisor

    def among(self, count: int, n: int, generator: np.random.Generator) -> Self:
        """The noise where no more than so many of ``n`` rows, drawn, count."""
        weight = np.ones(n) if self.weight is None else self.weight
        rows = generator.permutation(np.flatnonzero(weight))[:count]
        return type(self)(self.variance, np.where(np.isin(np.arange(n), rows), weight, 0.0))

    def at(self, rows: NDArray[np.bool_]) -> Self:
        """The noise of some rows."""
        weight = None if self.weight is None else _ratios(self.weight[rows])
        return type(self)(None if self.variance is None else self.variance[rows], weight)

    @property
    def _divisor(self) -> Array:
        return np.ones(1) if self.weight is None else self.weight


def _variances(sd: ArrayLike | None, n: int) -> Array | None:
    if sd is None:
        return None
    sds = np.asarray(sd, dtype=np.float64)
    if sds.shape not in ((), (n,)) or not ((sds > 0) & (sds < np.inf) | np.isnan(sds)).all():
        raise ValueError(f"noise_sd must be a positive number, or one for each of {n} rows, got {sd!r}")
    if np.isnan(sds).all():
        return None
    return np.broadcast_to(np.square(sds), n).copy()


def _weights(weight: ArrayLike | None, n: int) -> Array | None:
    if weight is None:
        return None
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape not in ((), (n,)) or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(f"sample_weight must be a number of at least 0 for each of {n} rows, got {weight!r}")
    if not weights.any():  # in scikit-learn's words
        raise ValueError("Sample weights must contain at least one non-zero number, got zeros alone")
    return _ratios(np.broadcast_to(weights, n))


def _ratios(weights: Array) -> Array | None:
    return None if (weights == weights[0]).all() else weights / weights[weights > 0].mean()


def probabilities(quantiles: Sequence[float]) -> Array:
    """The probabilities of quantiles.

    Raises:
        ValueError: If one does not lie between 0 and 1.
    """
    p = np.asarray(quantiles, dtype=np.float64)
    if p.ndim != 1 or not ((p > 0) & (p < 1)).all():
        raise ValueError(f"quantiles must be a list of probabilities between 0 and 1, got {quantiles!r}")
    return p
