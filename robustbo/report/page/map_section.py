"""Maps of two parameters through a point: what is predicted there, and how uncertain it is, with what was measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.report.charts.chart import Chart, Dots
from robustbo.report.charts.maps import BLUES, PURPLES, grid, map_chart
from robustbo.report.charts.marks import ORANGE
from robustbo.report.page.slices_section import NEAR, Around, Surface
from robustbo.rounding import format_number
from robustbo.searchspace.space import Space
from robustbo.trials.outcome import Outcome

INK, WHITE = "#111111", "#fefefe"  # over colors that are the same in any light
KINDS = {  # fill, outline, shape and size
    "measured": (WHITE, INK, "o", 3.0),
    "measured elsewhere": (WHITE, INK, "o", 2.5),
    "measured near the map": (WHITE, INK, "o", 5.0),
    "called wrong": (ORANGE, WHITE, "X", 6.5),
    "to be measured": (WHITE, INK, "s", 4.5),
}
GUIDE = (
    "The other parameters are as at {}. Values near the map are those whose other parameters are all within a tenth of "
    "their range of it. Touch a mark, or point at it, to see what it is."
)
BROKEN = "Where there is no color, a constraint is broken."

Spot = tuple[float, float]
Spots = Callable[[Mapping[str, Any]], Spot | None]  # where a point is on a map


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
    dots, charts = marks(places, around, spots(space, pair)), {}
    for title, values, hues in zip(titles(quantity), (mean, sd), (BLUES, PURPLES), strict=True):
        about = f"map over {pair[0]} and {pair[1]}: {title}"
        charts[title] = map_chart(of, of.cells(title, values, hues), dots, about)
    texts = [GUIDE.format(around.where), *([] if of.keeps.all() else [BROKEN])]

    def where(row: int) -> str:
        point = space.from_unit(of.rows[row])
        return point_text({name: point.get(name) for name in pair})

    return MapsSection(" ".join(texts), charts, end_sentences(quantity, mean, sd, where, of.keeps))


def titles(quantity: Outcome) -> tuple[str, str]:
    """The titles of the two maps: of the prediction, and of its standard deviation."""
    return f"predicted {quantity.label}", "how uncertain that is (standard deviation)"


def end_sentences(
    quantity: Outcome, mean: np.ndarray, sd: np.ndarray, where: Callable[[int], str], keeps: np.ndarray
) -> list[str]:
    """Sentences on the highest and the lowest of ``n`` predictions, and on the most uncertain one.

    Args:
        quantity: That is predicted.
        mean: The predictions.
        sd: Their standard deviations.
        where: The place of one, in words.
        keeps: Which of them keep the constraints; of the others nothing is said.
    """
    label = quantity.name or "value"
    ends = (
        (f"highest predicted {label}", mean, mean),
        (f"lowest predicted {label}", mean, -mean),
        (f"largest standard deviation of {label}", sd, sd),
    )
    sentences = []
    for text, values, rank in ends if keeps.any() else ():
        best = int(np.argmax(np.where(keeps, rank, -np.inf)))
        value = quantity.with_unit(format_number(float(values[best]), 3))
        sentences.append(f"The {text} on the map is {value}, at {where(best)}.")
    return sentences


def point_text(params: Mapping[str, Any]) -> str:
    """A point in a line, in few digits.

    Example:
        >>> point_text({"acid": "HCl", "heat (°C)": 41.23})
        'acid HCl, heat (°C) 41.2'
    """
    return ", ".join(f"{name} {_text(value)}" for name, value in params.items())


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


def marks(places: Sequence[Place], around: Around, at: Spots) -> list[Dots]:
    """The marks of places, a kind after the other, and around them that of the point that the map is through.

    Args:
        places: They.
        around: The point.
        at: Where a point is on the map; None where it is not.
    """
    pairs = [(place, spot) for place in places if (spot := at(place.params)) is not None]
    kinds = []
    for kind, (fill, stroke, shape, size) in KINDS.items():
        of_kind = [(place.title, spot) for place, spot in pairs if place.kind == kind]
        if of_kind:
            x, y = np.array([spot for _, spot in of_kind]).T
            kinds.append(Dots(kind, fill, stroke, x, y, shape, size, titles=[title for title, _ in of_kind]))
    center = at(around.params)
    if center is not None:
        x, y = np.array([center]).T
        kinds.append(Dots(around.where, "none", ORANGE, x, y, "o", 9.0, titles=[around.where]))
    return kinds


def spots(space: Space, pair: tuple[str, str]) -> Spots:
    """Return a function that places a point on a map of two parameters; None for a point without one of them."""
    named = dict(space.parameters)

    def at(params: Mapping[str, Any]) -> Spot | None:
        if not {*pair} <= {*params}:
            return None
        x, y = (named[name].to_unit(params[name]) for name in pair)
        return x, y

    return at


def _text(value: Any) -> str:
    return format_number(value, 3) if isinstance(value, float) else str(value)
