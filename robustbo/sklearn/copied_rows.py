"""Rows of a table that stand there twice: one measurement each, which does not confirm itself."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from robustbo.errors import SpaceWarning, warn
from robustbo.sklearn.arguments import RowNoise
from robustbo.study.copied import SEVERAL, stand_twice


class Measurements(NamedTuple):
    """The measurements of a table, some of which may stand there several times.

    Attributes:
        is_first: ``n`` truth values: the rows that are no copies of an earlier one.
        place: ``n`` numbers: which of these each row is, or is a copy of.
    """

    is_first: NDArray[np.bool_]
    place: NDArray[np.intp]

    def of(self, rows: Any) -> Any:
        """The first rows among ``n``, of an array or a data frame."""
        return getattr(rows, "loc", rows)[self.is_first]

    def on_rows(self, verdicts: dict[str, Any]) -> dict[str, Any]:
        """Verdicts on ``n`` rows by name, from those on the measurements; a table of something else stays."""
        return {name: of[self.place] if isinstance(of, np.ndarray) else of for name, of in verdicts.items()}


def measurements_of(X: Any, y: NDArray[np.float64], noise: RowNoise, groups: ArrayLike | None) -> Measurements:
    """Tell copies of rows from replicates that agree; say so where there are any.

    Where hardly any value differs from another one at its point, equal rows are taken for copies: if they are
    replicates of an exact measurement, little is lost.

    Args:
        X: ``n x d`` rows.
        y: ``n`` values.
        noise: What is known of their noise, and how much they count.
        groups: ``n`` labels, where there are any.
    """
    points = pd.DataFrame(X).set_axis([f"x{i}" for i in range(X.shape[1])], axis=1).reset_index(drop=True)
    labels = None if groups is None else np.asarray(groups, dtype=object).ravel()
    table = points.assign(y=y, variance=noise.variance, weight=noise.weight, label=labels)
    copies, differing = table.duplicated().sum(), table.drop_duplicates().duplicated([*points]).sum()
    agree = copies >= SEVERAL * max(1, differing)
    if not copies or not (agree or stand_twice(table, [*points], ["y"])):
        return Measurements(np.ones(len(y), dtype=bool), np.arange(len(y)))
    numbers = table.groupby([*table], dropna=False, sort=False, observed=True).ngroup().to_numpy()  # as they come
    is_first = ~pd.Series(numbers).duplicated().to_numpy()
    statement = f"{copies} of {len(y)} rows are the same as an earlier row in all columns"
    warn(f"{statement}: each is taken for one measurement that stands there twice; drop the copies", SpaceWarning)
    return Measurements(is_first, numbers)
