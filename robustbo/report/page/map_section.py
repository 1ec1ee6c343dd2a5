"""Maps of two parameters through a point: what is predicted there, and how uncertain it is, with what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.report.charts.chart import Chart, Dots
from robustbo.report.charts.maps import BLUES, PURPLES, Grid, grid, map_chart
from robustbo.report.charts.marks import ORANGE
from robustbo.report.page.slices_section import NEAR, Around, Surface
from robustbo.rounding import format_number
from robustbo.searchspace.space import Space
from robustbo.trials.outcome import Outcome

INK, WHITE = "#111111", "#fefefe"  # over colors that are the same in any light
KINDS = {  # fill, outline, shape and size
    "measured elsewhere": (WHITE, INK, "o", 2.5),
    "measured near the map": (WHITE, INK, "o", 5.0),
    "called wrong": (ORANGE, WHITE, "X", 6.5),
    "to be measured": (WHITE, INK, "s", 4.5),
}
GUIDE = (
    "The other parameters are as at {}. Values near the map are those whose other parameters are all within a tenth of "
    "their range of it. Point at a mark to see what it is."
)
BROKEN = "Where there is no color, a constraint is broken."


class Place(NamedTuple):
    """A point to be marked on a map: its parameters, its kind, and the words for it."""

    params: Mapping[str, Any]
    kind: str
    title: str


class MapsSection(NamedTuple):
    """The section: how the maps are to be read, the maps by title, and sentences on what they show."""

    guide: str
    charts: Mapping[str, Chart]
    sentences: Sequence[str]


def maps_section(
    space: Space, around: Around, pair: tuple[str, str], surface: Surface, waiting: Iterable[Place] = ()
) -> MapsSection:
    """The maps of two parameters through a point, of one surface.

    Args:
        space: The search space.
        around: The point.
        pair: The parameters across and upwards; see `robustbo.report.charts.maps.movable`.
        surface: The surrogate, with its values.
        waiting: What is to be measured.
    """
    of, quantity = grid(space, around.params, *pair), surface.quantity
    mean, sd = map(np.array, surface.fitted.predict(surface.fitted.encoded(of.rows)))
    mean = mean.clip(quantity.low, quantity.high)
    places = [*_measured(space, around, pair, surface), *waiting]
    dots = [*_dots(space, pair, places), _center(space, around, pair)]
    predicted = f"predicted {quantity.label}"
    charts = {}
    for title, values, hues in ((predicted, mean, BLUES), ("how uncertain that is (standard deviation)", sd, PURPLES)):
        about = f"map over {pair[0]} and {pair[1]}: {title}"
        charts[title] = map_chart(of, of.cells(title, values, hues), dots, about)
    texts = [GUIDE.format(around.where), *([] if of.keeps.all() else [BROKEN])]
    label = quantity.name or "value"
    ends = (
        (f"highest predicted {label}", mean, mean),
        (f"lowest predicted {label}", mean, -mean),
        (f"largest standard deviation of {label}", sd, sd),
    )
    sentences = [
        f"The {text} on the map is {_end(space, pair, of, values, rank, quantity)}."
        for text, values, rank in (ends if of.keeps.any() else ())
    ]
    return MapsSection(" ".join(texts), charts, sentences)


def _end(space: Space, pair: tuple[str, str], of: Grid, values: np.ndarray, rank: np.ndarray, quantity: Outcome) -> str:
    """The value of the highest rank where constraints are kept, and where that is."""
    best = int(np.argmax(np.where(of.keeps, rank, -np.inf)))
    point = space.from_unit(of.rows[best])
    where = ", ".join(f"{name} {_text(point.get(name))}" for name in pair)
    return f"{quantity.with_unit(format_number(float(values[best]), 3))}, at {where}"


def _measured(space: Space, around: Around, pair: tuple[str, str], surface: Surface) -> list[Place]:
    at, places = space.to_unit(around.params), list[Place]()
    for params, _, is_wrong, title in surface.values:
        if not all(name in params for name in pair):
            continue
        coordinates = zip(space.names, space.to_unit(params), at, strict=True)
        is_near = all(abs(a - b) <= NEAR for name, a, b in coordinates if name not in pair)
        kind = "called wrong" if is_wrong else "measured near the map" if is_near else "measured elsewhere"
        places.append(Place(params, kind, title))
    return places


def _dots(space: Space, pair: tuple[str, str], places: Sequence[Place]) -> list[Dots]:
    marks, named = [], dict(space.parameters)
    for kind, (fill, stroke, shape, size) in KINDS.items():
        shown = [place for place in places if place.kind == kind and all(name in place.params for name in pair)]
        x, y = (np.array([named[name].to_unit(place.params[name]) for place in shown]) for name in pair)
        marks.append(Dots(kind, fill, stroke, x, y, shape, size, titles=[place.title for place in shown]))
    return [dots for dots in marks if len(dots.x)]


def _center(space: Space, around: Around, pair: tuple[str, str]) -> Dots:
    named = dict(space.parameters)
    x, y = (np.array([named[name].to_unit(around.params[name])]) for name in pair)
    return Dots(around.where, "none", ORANGE, x, y, "o", 9.0, titles=[around.where])


def _text(value: Any) -> str:
    return format_number(value, 3) if isinstance(value, float) else str(value)
