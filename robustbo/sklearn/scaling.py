"""Numbers of a table between 0 and 1, without letting a few that lie far from all others set the scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robustbo.errors import SpaceWarning, warn

Array = NDArray[np.float64]
ONE_IN = 20  # one value of so many may lie far away
RANGES = 10.0  # and is far if it is farther than this from the others, in lengths of their interval
SHOWN = 3  # of these, in a warning


class Scaling:
    """Columns scaled so that the rows given here lie between 0 and 1, all but those far away.

    A cell that is wrong by a factor of 1,000, or says -999 where nothing was measured, would leave the other values of
    its column a thousandth of the range, and the model could not tell them apart. So one value in 20 may lie outside,
    if it is farther from the shortest interval that holds the others than 10 times the length of that interval. Fewer
    than 20 rows have no such values: a design may be that uneven.

    Args:
        rows: ``n x d`` numbers.
        names: ``d`` names of the columns, for the warning that says which values are far away.
    """

    def __init__(self, rows: Array, names: Sequence[object]) -> None:
        self._order = np.frexp(rows.max(0) / 2 - rows.min(0) / 2)[1]  # binary, of ranges
        columns = self._of_order_1(rows).T
        is_far = np.array([_is_far(column) for column in columns], dtype=bool).reshape(columns.shape)
        self._low = np.min(columns, 1, where=~is_far, initial=np.inf)
        ranges = np.max(columns, 1, where=~is_far, initial=-np.inf) - self._low
        self._range = np.where(ranges > 0, ranges, 1.0)
        for name, values, far in zip(names, rows.T, is_far, strict=True):
            if far.any():
                warn(_statement(name, values[far], values[~far]), SpaceWarning)

    def __call__(self, rows: Array) -> Array:
        """``m x d`` numbers, scaled as those."""
        return (self._of_order_1(rows) - self._low) / self._range

    def _of_order_1(self, rows: Array) -> Array:
        """Columns divided by their orders of magnitude, which loses nothing."""
        return np.ldexp(np.asarray(rows, dtype=np.float64), -self._order)


def _is_far(column: Array) -> NDArray[np.bool_]:
    """Truth values of ``n`` numbers: whether each is far from the others."""
    if (count := len(column) // ONE_IN) == 0:
        return np.zeros(len(column), dtype=bool)
    in_order, rest = np.sort(column), len(column) - count
    lengths = in_order[rest - 1 :] - in_order[: count + 1]
    first = int(np.argmin(lengths))
    low, length = in_order[first], lengths[first]
    distance = np.maximum(low - column, column - low - length)
    return (distance > RANGES * length) & (length > 0)


def _statement(name: object, far: Array, near: Array) -> str:
    shown = ", ".join(f"{value:g}" for value in far[:SHOWN]) + (", ..." if len(far) > SHOWN else "")
    verb = "values lie" if len(far) > 1 else "value lies"
    return (
        f"column {name!r} of X: {len(far)} {verb} far from all others ({shown}; the others from {near.min():g} to "
        f"{near.max():g}), which alone set its scale; correct or leave out what is wrong"
    )
