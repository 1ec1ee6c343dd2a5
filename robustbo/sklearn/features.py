"""Columns of a table as inputs of a surrogate: numbers between 0 and 1, a column for each category."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from robustbo.sklearn.scaling import Scaling

FROM_DTYPE = "from_dtype"


def dates_as_numbers(X: Any) -> Any:
    """A table whose dates and durations are numbers of days; what is no data frame as it is.

    Raises:
        ValueError: If two columns of a data frame have one name.

    Example:
        >>> import pandas as pd
        >>> t = pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00"])
        >>> dates_as_numbers(pd.DataFrame({"t": t}))["t"].tolist()
        [1.0, 2.5]
    """
    if not isinstance(X, pd.DataFrame):
        return X
    if not X.columns.is_unique:
        raise ValueError(f"columns of X must have different names, got {list(X.columns)}")
    dates = [name for name in X.columns if X[name].dtype.kind in "mM"]
    return X.assign(**{name: _days(X[name]) for name in dates}) if dates else X


def _days(column: pd.Series) -> pd.Series:
    if column.dtype.kind == "m":
        return column / pd.Timedelta(days=1)
    return (pd.to_datetime(column, utc=True) - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)


def categorical_columns(X: Any, declared: Any) -> list[int]:
    """Places of the columns that are categories.

    Args:
        X: ``n x d`` table, as a data frame or an array.
        declared: "from_dtype", which are those of a data frame that are no numbers; None for none; their names, their
            places, or ``d`` booleans.

    Raises:
        ValueError: If a column is named that the table lacks.
    """
    names = list(getattr(X, "columns", ()))
    if declared is None or (isinstance(declared, str) and declared == FROM_DTYPE and not names):
        return []
    if isinstance(declared, str):
        if declared != FROM_DTYPE:
            raise ValueError(
                f"categorical_features must be {FROM_DTYPE!r}, None or a list of columns, got {declared!r}"
            )
        return [i for i, name in enumerate(names) if not _is_numeric(X[name].dtype)]
    columns = np.asarray(declared)
    d = X.shape[1]
    if columns.dtype == bool:
        if len(columns) != d:
            raise ValueError(f"categorical_features must have a boolean for each of {d} columns, got {len(columns)}")
        return np.flatnonzero(columns).tolist()
    places = [_place(column, names, d) for column in columns.tolist()]
    return sorted(set(places))


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf"


def _place(column: Any, names: Sequence[Any], d: int) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"categorical_features must be columns of X, got {column!r}; X has {names or 'no names'}")
        return names.index(column)
    if not -d <= column < d:
        raise ValueError(f"categorical_features must be places of {d} columns, got {column}")
    return int(column) % d


class FeatureEncoder:
    """Inputs of a surrogate from rows of a table.

    Numbers are scaled (`Scaling`) so that those of the training rows lie between 0 and 1; a category has a column for
    each of its values, and one that the training rows lack has zero in all of them.

    Args:
        X: ``n x d`` training rows.
        categorical: Places of the columns that are categories.
        names: ``d`` names of the columns.
    """

    def __init__(self, X: Any, categorical: Sequence[int], names: Sequence[object]) -> None:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        numbers = [i for i in range(X.shape[1]) if i not in set(categorical)]
        rows = np.asarray(getattr(X, "iloc", X)[:, numbers], dtype=np.float64)
        scaler = FunctionTransformer(Scaling(rows, [names[i] for i in numbers]))
        parts = [("numbers", scaler, numbers), ("categories", encoder, list(categorical))]
        self._columns = ColumnTransformer([part for part in parts if part[2]]).fit(X)

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """``m x d'`` inputs of ``m x d`` rows."""
        return np.asarray(self._columns.transform(X), dtype=np.float64)
