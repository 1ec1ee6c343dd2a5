"""A page's section of slices through a point: what is predicted where one parameter moves and the others stay."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts.chart import GRAY, HEIGHT, Axis, Chart, Dots, axis
from robustbo.report.charts.marks import ORANGE, within_reach
from robustbo.report.charts.one_outcome import BLACK, bounds, limits
from robustbo.report.charts.slices import Slice, across, curves, dots, guide, shades, slices, upright
from robustbo.report.page.table import Table
from robustbo.rounding import format_number
from robustbo.searchspace.space import Space
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import OutcomeGoal

NEAR = 0.1  # of each range, that the other parameters of a value near a slice may be away
KINDS = {  # fill and outline
    "measured elsewhere": ("none", GRAY),
    "measured near the slice": (BLACK, "none"),
    "called wrong": (ORANGE, "none"),
}
DOTS = (
    "Dots: measured values within the frame; near the slice are those whose other parameters are all within a tenth of "
    "their range."
)
Describe = Callable[[Outlier, int], str]
LOWER = 200.0  # of a chart that is one of several


class Around(NamedTuple):
    """The point that slices go through: its name in words, and why it is that one, where that must be said."""

    params: Mapping[str, Any]
    where: str
    reason: str = ""


class MeasuredValue(NamedTuple):
    """A measured value: where, whether it is called wrong, and the text that a reader sees who points at it."""

    params: Mapping[str, Any]
    value: float
    is_wrong: bool
    title: str


class Surface(NamedTuple):
    """A surrogate and its values: of one of several outcomes, with its goal and bounds, or of the only one."""

    fitted: FittedSurrogate
    quantity: Outcome
    outcome: OutcomeGoal | None = None
    values: Sequence[MeasuredValue] = ()


class SlicePrediction(NamedTuple):
    """Means along a slice, and the ends of their band."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


SlicePredictions = Mapping[str, SlicePrediction]  # by parameter


class SlicePiece(NamedTuple):
    """One parameter's slice: a chart a surface, or a table, or neither; and what is to be said of it."""

    name: str
    note: str
    charts: Sequence[Chart] = ()
    table: Table | None = None


class SlicesSection(NamedTuple):
    """The section: how slices are to be read, and a piece a parameter."""

    guide: str
    pieces: Sequence[SlicePiece]

    @property
    def charts(self) -> list[Chart]:
        """The charts of all pieces, for one legend."""
        return [chart for piece in self.pieces for chart in piece.charts]


def in_a_line(outlier: Outlier, num_others: int) -> str:
    """A value with its evidence in a line, as reports have it."""
    return f"{outlier}"


def value_points(judged: Sequence[Outlier], describe: Describe = in_a_line) -> list[MeasuredValue]:
    """The values that have been judged: of several outcomes, those of one.

    Args:
        judged: They.
        describe: Says of one, and of the number of all others, what a reader sees who points at it.
    """
    return [MeasuredValue(o.trial.params, o.value, o.flagged, describe(o, len(judged) - 1)) for o in judged]


def slices_section(space: Space, around: Around, surfaces: Sequence[Surface]) -> SlicesSection:
    """The slices through a point, of each surface.

    Args:
        space: The search space.
        around: The point.
        surfaces: The surrogates.
    """
    params, where, _ = around
    along = slices(space, params, where)
    predictions = [{of.name: predict_along(surface, of) for of in along if len(of.units)} for surface in surfaces]
    ups = [_up(surface, along, by_name) for surface, by_name in zip(surfaces, predictions, strict=True)]
    at, pieces = space.to_unit(params), list[SlicePiece]()
    for of in along:
        if len(of.units) and of.is_table:
            rows = [by_name[of.name] for by_name in predictions]
            pieces.append(SlicePiece(of.name, of.note, table=_table(of, surfaces, rows)))
            continue
        triples = zip(surfaces, ups, predictions, strict=True) if len(of.units) else ()
        charts = [
            _chart(of, surface, up, by_name[of.name], where, _observations(surface, space, at, of, up))
            for surface, up, by_name in triples
        ]
        pieces.append(SlicePiece(of.name, of.note, charts))
    text = DOTS if any(surface.values for surface in surfaces) else ""
    return SlicesSection(f"{guide(space, where)} {text}", pieces)


def predict_along(surface: Surface, of: Slice) -> SlicePrediction:
    """Predict along a slice, as far as values are possible."""
    mean, sd = map(np.array, surface.fitted.predict(surface.fitted.encoded(of.rows)))
    low, high = surface.quantity.low, surface.quantity.high
    return SlicePrediction(mean.clip(low, high), (mean - 2 * sd).clip(low, high), (mean + 2 * sd).clip(low, high))


def _up(surface: Surface, along: Sequence[Slice], predictions: SlicePredictions) -> Axis:
    ends = [np.array([y[of.keeps] for y in predictions[of.name][1:]]) for of in along if of.name in predictions]
    if surface.outcome is None:
        return axis(surface.quantity.heading("predicted value"), *ends)
    limit = within_reach(bounds(surface.outcome), np.concatenate([*map(np.ravel, ends), np.zeros(0)]))
    return axis(surface.quantity.label, *ends, limit)


def _table(of: Slice, surfaces: Sequence[Surface], predictions: Sequence[SlicePrediction]) -> Table:
    rows: list[list[str]] = [[f"{value!r}"] for value in of.values]
    for prediction in predictions:
        for row, *numbers, is_kept in zip(rows, *prediction, of.keeps, strict=True):
            row += _cells(*numbers) if is_kept else ["breaks a constraint", ""]
    names = [[surface.quantity.heading("mean"), "± 2 sd"] for surface in surfaces]
    return Table([of.name, *(name for pair in names for name in pair)], rows)


def _cells(mean: float, low: float, high: float) -> list[str]:
    """A mean and how far its band reaches: in both directions, unless no value is possible beyond one of its ends."""
    return [format_number(mean), f"{max(high - mean, mean - low):.2g}"]


def _observations(surface: Surface, space: Space, at: Sequence[float], of: Slice, up: Axis) -> list[Dots]:
    """The values measured within the frame: those near the slice, those elsewhere, and those that are called wrong."""
    i = space.names.index(of.name)
    kinds: dict[str, list[tuple[float, float, str]]] = {kind: [] for kind in KINDS}
    for params, value, is_wrong, title in surface.values:
        if of.name not in params or not up.low <= value <= up.high:
            continue
        unit = space.to_unit(params)
        is_near = all(abs(a - b) <= NEAR for k, (a, b) in enumerate(zip(unit, at, strict=True)) if k != i)
        kind = "called wrong" if is_wrong else "measured near the slice" if is_near else "measured elsewhere"
        kinds[kind].append((unit[i], value, title))
    marks = []
    for kind, places in kinds.items():
        (fill, stroke), shape = KINDS[kind], "X" if kind == "called wrong" else "o"
        x, y, titles = zip(*places, strict=True) if places else ((), (), ())
        marks.append(Dots(kind, fill, stroke, np.array(x), np.array(y), shape, 3.0, titles=titles))
    return marks


def _chart(
    of: Slice, surface: Surface, up: Axis, prediction: SlicePrediction, where: str, observations: Sequence[Dots]
) -> Chart:
    (mean, low, high), outcome, over = prediction, surface.outcome, across(of)
    limit = [] if outcome is None else limits(outcome, over, up)
    lines = [*shades(of, up), *limit, *curves(of, mean, low, high), upright(of.center, up)]
    name = of.name if outcome is None else f"{outcome.name} by {of.name}"
    height = HEIGHT if outcome is None else LOWER
    about = f"{name}: prediction through {where}"
    return Chart(about, over, up, lines, [*observations, *dots(of, mean)], height=height)
