"""Maps of two parameters: a grid of points through a point, and its predictions as colored cells."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.report.charts.chart import Axis, Cells, Chart, Dots, ticks
from robustbo.report.charts.slices import complete_rows, slices, unit_axis
from robustbo.searchspace.parameters import Parameter
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.space import Space

POINTS = 36  # of a grid along a parameter, unless that has fewer values
MOST_BANDS = 8
BLUES = ("#deebf7", "#9ecae1", "#4292c6", "#08519c", "#08306b")  # of ColorBrewer
PURPLES = ("#efedf5", "#bcbddc", "#807dba", "#54278f", "#3f007d")
HEIGHT = 420.0


class Grid(NamedTuple):
    """Two parameters that move through a point, the others being as they are there.

    Attributes:
        across, up: The axes of their unit coordinates.
        x, y: ``m + 1`` and ``n + 1`` edges of the cells.
        rows: ``n m`` unit-cube rows, those of the lowest ``up`` first.
        keeps: ``n m`` booleans: which of them keep the constraints.
    """

    across: Axis
    up: Axis
    x: np.ndarray
    y: np.ndarray
    rows: Sequence[list[float]]
    keeps: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells upwards and across."""
        return len(self.y) - 1, len(self.x) - 1

    def cells(self, label: str, values: np.ndarray, hues: Sequence[str]) -> Cells:
        """The cells of ``n m`` values, without those where a constraint is broken."""
        shown = np.where(self.keeps, values, np.nan).reshape(self.shape)
        ends = band_ends(shown)
        return Cells(label, self.x, self.y, shown, ends, colors(hues, len(ends) - 1))


def movable(space: Space, params: Mapping[str, Any]) -> list[str]:
    """The parameters that a map through a point can have: of more than one value, and not following from others.

    A pool has no lines between its points: its maps can have each parameter of more than one value.
    """
    if space.is_pool:
        return [name for name, parameter in space.parameters if parameter.count != 1]
    return [of.name for of in slices(space, params) if len(of.units)]


def grid(space: Space, params: Mapping[str, Any], across: str, up: str) -> Grid:
    """The grid of two parameters through a point.

    Args:
        space: The search space.
        params: The point.
        across, up: Two of its `movable` parameters.
    """
    at, named = space.to_unit(params), dict(space.parameters)
    i, j = space.names.index(across), space.names.index(up)
    (x_middles, x), (y_middles, y) = _places(named[across]), _places(named[up])
    rows = []
    for b in y_middles:
        for a in x_middles:
            row = list(at)
            row[i], row[j] = a, b
            rows.append(row)
    rows, keeps = complete_rows(region_of(space), rows)
    return Grid(unit_axis(across, named[across]), unit_axis(up, named[up]), x, y, rows, keeps)


def _places(parameter: Parameter) -> tuple[list[float], np.ndarray]:
    """The middles of cells along a parameter, and the edges between them."""
    levels = list(parameter.levels or ())
    if not 0 < len(levels) <= POINTS:
        edges = np.linspace(0.0, 1.0, POINTS + 1)
        return ((edges[1:] + edges[:-1]) / 2).tolist(), edges
    middles = np.array(levels)
    return levels, np.array([0.0, *(middles[1:] + middles[:-1]) / 2, 1.0])


def band_ends(values: np.ndarray) -> list[float]:
    """Round numbers around all finite values, for bands of a color each.

    Example:
        >>> band_ends(np.array([12.0, 48.0])), band_ends(np.array([3.0]))
        ([10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0], [2.5, 3.5])
    """
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return [low - 0.5, high + 0.5]
    inner = ticks(low, high, MOST_BANDS)
    step = inner[1] - inner[0] if len(inner) > 1 else high - low
    inner = inner or [(low + high) / 2]
    ends = [inner[0] - step] * (inner[0] > low) + inner + [inner[-1] + step] * (inner[-1] < high)
    return [float(f"{end:.12g}") for end in ends]


def colors(hues: Sequence[str], count: int) -> list[str]:
    """Colors between hues, evenly from light to dark.

    Example:
        >>> colors(["#000000", "#ffffff"], 3)
        ['#000000', '#808080', '#ffffff']
    """
    anchors = np.array([[int(hue[k : k + 2], 16) for k in (1, 3, 5)] for hue in hues], dtype=float)
    at = np.linspace(0, len(hues) - 1, count) if count > 1 else np.array([(len(hues) - 1) / 2])
    channels = [np.interp(at, np.arange(len(hues)), channel) for channel in anchors.T]
    return ["#" + "".join(f"{round(value):02x}" for value in rgb) for rgb in zip(*channels, strict=True)]


def map_chart(of: Grid, cells: Cells, dots: Sequence[Dots], about: str) -> Chart:
    """The map as a chart, with marks over it."""
    return Chart("", of.across, of.up, (), dots, height=HEIGHT, about=about, cells=cells)
