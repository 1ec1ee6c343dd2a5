"""Maps of a pool: its rows at two of their parameters, by what is predicted of each, and by how uncertain that is."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robustbo.report.charts.chart import Chart
from robustbo.report.charts.maps import BLUES, HEIGHT, PURPLES
from robustbo.report.charts.pool_maps import RowMarks, row_marks
from robustbo.report.page.map_section import (
    MapsSection,
    Place,
    Spot,
    Spots,
    end_sentences,
    marks,
    point_text,
    spots,
    titles,
)
from robustbo.report.page.pool_section import predict_rows
from robustbo.report.page.slices_section import Around, Surface
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.space import Space
from robustbo.trials.identity import Point, point_of

MOST = 2000  # rows that are drawn: of more an even choice, and what is marked
GUIDE = (
    "Each mark is a row of the table of points, whatever its other parameters are; rows at one place are side by side. "
    "Touch a mark, or point at it, to see what it is."
)
EXCERPT = "Of {} rows {} are drawn: an even choice by their predictions, and all that are marked."


def pool_maps_section(
    space: Space, around: Around, pair: tuple[str, str], surface: Surface, waiting: Iterable[Place] = ()
) -> MapsSection:
    """The maps of two parameters of a pool, of one surface.

    Args:
        space: The pool.
        around: The point that is marked.
        pair: The parameters across and upwards.
        surface: The surrogate, with its values.
        waiting: What is to be measured.
    """
    points, quantity = list(region_of(space).all_points or ()), surface.quantity
    units = np.array([space.to_unit(point) for point in points])
    mean, sd = predict_rows(surface.fitted, units.tolist())
    mean = mean.clip(quantity.low, quantity.high)
    places = [*_measured(surface), *waiting]
    marked = {point_of(params) for params in (around.params, *(place.params for place in places))}
    indices = _choose(mean, sd, [k for k, point in enumerate(points) if point_of(point) in marked])
    of = row_marks(space, units[indices], *pair)
    texts = [
        f"{point_text(points[k])}: predicted {quantity.amount(float(mean[k]), float(sd[k]), digits=3)}" for k in indices
    ]
    over = marks(places, around, _spots(space, pair, of, [point_of(points[k]) for k in indices]))
    charts = {}
    for title, values, hues in zip(titles(quantity), (mean, sd), (BLUES, PURPLES), strict=True):
        about = f"rows over {pair[0]} and {pair[1]}: {title}"
        dots = [*of.dots(values[indices], hues, texts), *over]
        charts[title] = Chart("", of.across, of.up, (), dots, height=HEIGHT, about=about)
    guide = GUIDE if len(indices) == len(points) else f"{GUIDE} {EXCERPT.format(len(points), len(indices))}"
    every = np.ones(len(points), dtype=bool)
    return MapsSection(guide, charts, end_sentences(quantity, mean, sd, lambda row: point_text(points[row]), every))


def _choose(mean: np.ndarray, sd: np.ndarray, marked: list[int]) -> np.ndarray:
    """The rows that are drawn: all, or `MOST` that are evenly spread over the predictions, and the marked."""
    if len(mean) <= MOST:
        return np.arange(len(mean))
    even = np.argsort(mean, kind="stable")[np.linspace(0, len(mean) - 1, MOST).round().astype(int)]
    return np.unique([*even, int(sd.argmax()), *marked])


def _measured(surface: Surface) -> list[Place]:
    return [
        Place(params, "called wrong" if is_wrong else "measured", title)
        for params, _, is_wrong, title in surface.values
    ]


def _spots(space: Space, pair: tuple[str, str], of: RowMarks, keys: list[Point]) -> Spots:
    """Return a function that places a point: at the mark of its row, or where its parameters say, beside the rows."""
    by_key = {key: (float(x), float(y)) for key, x, y in zip(keys, of.x, of.y, strict=True)}
    beside = spots(space, pair)

    def at(params: Mapping[str, Any]) -> Spot | None:
        return by_key.get(point_of(params)) or beside(params)

    return at
