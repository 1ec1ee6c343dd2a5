"""A table's values with the probability that each is wrong, in one call."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from robustbo.sklearn.regressor import RobustGPRegressor


def outliers(X: Any, y: ArrayLike, **options: Any) -> pd.DataFrame:
    """Table of ``n`` values with the probability that each is wrong, by its prediction from the others.

    Args:
        X: ``n x d`` rows.
        y: ``n`` values.
        options: Options of `RobustGPRegressor`.

    Returns:
        One row for each value, in their order: the value, its prediction, the standard deviation of the prediction, the
        evidence against the value in nats, the probability that it is wrong, and whether that exceeds 1/2.

    Example:
        >>> import numpy as np
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> y = np.sin(6 * X[:, 0])
        >>> y[7] = -4.0
        >>> found = outliers(X, y)
        >>> found.index[found["is_wrong"]].tolist()
        [7]
    """
    regressor = RobustGPRegressor(**options).fit(X, y)
    columns = {
        "value": np.asarray(y, dtype=np.float64).ravel(),
        "expected": regressor.expected_,
        "sd": regressor.expected_sd_,
        "evidence": regressor.evidence_,
        "probability_wrong": regressor.probability_wrong_,
        "is_wrong": regressor.outlier_mask_,
    }
    return pd.DataFrame(columns, index=y.index if isinstance(y, pd.Series | pd.DataFrame) else None)
