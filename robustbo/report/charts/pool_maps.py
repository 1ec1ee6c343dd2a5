"""Maps of a pool: a colored mark a row, at two of its parameters; rows at one place stand side by side around it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robustbo.report.charts.chart import GRAY, Axis, Dots, labels
from robustbo.report.charts.maps import band_ends, colors
from robustbo.report.charts.slices import unit_axis
from robustbo.searchspace.space import Space

MARGIN = 0.04  # of an axis beyond its outermost rows, so that their marks are whole
APART = 0.045  # of an axis, between two rows at one place
ROOM = 0.85  # of the way to the next place, that the rows at one place take
SMALLEST, LARGEST = 2.5, 7.5  # half the width of a mark
MANY = 400  # rows, from which on their marks are smaller
MIDDLING = 4.0
PIXELS = 370.0  # of the shorter axis


class RowMarks(NamedTuple):
    """The marks of the rows of a pool.

    Attributes:
        across, up: The axes of the unit coordinates of two parameters.
        x, y: ``n`` places.
        size: Half the width of a mark.
    """

    across: Axis
    up: Axis
    x: np.ndarray
    y: np.ndarray
    size: float

    def dots(self, values: np.ndarray, hues: Sequence[str], titles: Sequence[str]) -> list[Dots]:
        """A kind of marks a band of values, the lowest first."""
        ends = band_ends(values)
        bands = np.searchsorted(ends[1:-1], values, side="right")
        texts, marks = labels(ends), []
        for band, color in enumerate(colors(hues, len(ends) - 1)):
            members = (bands == band).nonzero()[0].tolist()
            of_band = [titles[k] for k in members]
            label = f"{texts[band]} to {texts[band + 1]}"
            marks.append(Dots(label, color, GRAY, self.x[members], self.y[members], "o", self.size, titles=of_band))
        return [dots for dots in marks if len(dots.x)]


def row_marks(space: Space, rows: np.ndarray, across: str, up: str) -> RowMarks:
    """The marks of rows at two parameters.

    Args:
        space: The pool.
        rows: ``n x d`` unit coordinates of its rows.
        across, up: The parameters.
    """
    named = dict(space.parameters)
    places = rows[:, [space.names.index(across), space.names.index(up)]]
    _, groups, counts = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    ranks = _ranks_within(groups.ravel())
    widths = np.ceil(np.sqrt(counts[groups.ravel()]))  # of the square of rows at one place
    gaps = np.array([_least_gap(places[:, k]) for k in (0, 1)])
    steps = np.minimum(APART, ROOM * gaps / widths[:, None])
    offsets = np.stack([ranks % widths, ranks // widths], -1) - (widths[:, None] - 1) / 2
    moved = places + np.where(widths[:, None] > 1, offsets * steps, 0.0)
    axes = [
        unit_axis(name, named[name])._replace(low=min(0.0, at.min()) - MARGIN, high=max(1.0, at.max()) + MARGIN)
        for name, at in zip((across, up), moved.T, strict=True)
    ]
    size = _size(float(steps[widths > 1].min(initial=APART)), len(rows))
    return RowMarks(axes[0], axes[1], moved[:, 0], moved[:, 1], size)


def _size(step: float, count: int) -> float:
    """Half the width of marks that do not hide each other where rows are a step apart."""
    largest = LARGEST if count < MANY else MIDDLING
    return min(largest, max(SMALLEST, 0.5 * PIXELS * step))


def _ranks_within(groups: np.ndarray) -> np.ndarray:
    """The place of each in its group, in their order."""
    order = np.argsort(groups, kind="stable")
    begins = np.r_[0, np.cumsum(np.bincount(groups))[:-1]]
    ranks = np.empty(len(groups))
    ranks[order] = np.arange(len(groups)) - begins[groups[order]]
    return ranks


def _least_gap(values: np.ndarray) -> float:
    """The smallest distance between different unit coordinates; 1 where all are the same."""
    return float(np.diff(np.unique(values)).min(initial=1.0))
