"""A page's section of slices through a point: what is predicted where one parameter moves and the others stay."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts import svg
from robustbo.report.charts.chart import GRAY, HEIGHT, Axis, Chart, Dots, axis
from robustbo.report.charts.marks import ORANGE, near
from robustbo.report.charts.one_outcome import BLACK, bounds, limits
from robustbo.report.charts.slices import INCUMBENT, Slice, across, curves, dots, guide, shades, slices, upright
from robustbo.report.page.html import side_by_side, table
from robustbo.rounding import rounded
from robustbo.searchspace.space import Space
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import Wanted

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
LOWER = 200.0  # of a chart that is one of several
Predicted = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # by parameter: mean, and the ends of the band


class Value(NamedTuple):
    """A measured value: where, whether it is called wrong, and what is said of it where a reader points at it."""

    params: Mapping[str, Any]
    value: float
    is_wrong: bool
    title: str


class Surface(NamedTuple):
    """What a surrogate predicts: of one of several outcomes, of which something is wanted, or of the only one."""

    fitted: FittedSurrogate
    quantity: Outcome
    wanted: Wanted | None = None
    values: Sequence[Value] = ()


def measured(judged: Sequence[Outlier]) -> list[Value]:
    """The values that have been judged: of several outcomes, those of one."""
    return [Value(o.trial.params, o.value, o.flagged, f"{o}") for o in judged]


def section(space: Space, params: Mapping[str, Any], surfaces: Sequence[Surface], where: str = INCUMBENT) -> str:
    """The slices through a point, of each surface.

    Args:
        space: What may be chosen.
        params: The point.
        surfaces: What is predicted.
        where: The point, in words.
    """
    found = slices(space, params, where)
    made = [{each.name: _predicted(of, each) for each in found if len(each.units)} for of in surfaces]
    ups = [_up(of, found, each) for of, each in zip(surfaces, made, strict=True)]
    charts, shown, here = list[Chart](), list[str](), space.to_unit(params)
    for each in found:
        inner = f"<h3>{escape(each.name)}</h3>" + (f"<p>{escape(each.note)}.</p>" if each.note else "")
        if len(each.units) and each.is_table:
            inner += _table(each, surfaces, made)
        elif len(each.units):
            drawn = [
                _curve(each, of, up, said[each.name], where, _observed(of, space, here, each, up))
                for of, up, said in zip(surfaces, ups, made, strict=True)
            ]
            inner, charts = inner + "".join(map(svg.draw, drawn)), charts + drawn
        shown.append(inner)
    dots = DOTS if any(of.values for of in surfaces) else ""
    return f"<p>{escape(guide(space, where))} {dots}</p>{svg.legend(*charts)}{side_by_side(shown)}"


def _predicted(of: Surface, along: Slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and ends of the band along a slice, as far as they are possible."""
    mean, sd = map(np.array, of.fitted.predict(of.fitted.encoded(along.rows)))
    low, high = of.quantity.low, of.quantity.high
    return mean.clip(low, high), (mean - 2 * sd).clip(low, high), (mean + 2 * sd).clip(low, high)


def _up(of: Surface, found: Sequence[Slice], made: Predicted) -> Axis:
    ends = [np.array([y[each.keeps] for y in made[each.name][1:]]) for each in found if each.name in made]
    if of.wanted is None:
        return axis(of.quantity.heading("predicted value"), *ends)
    kept = near(bounds(of.wanted), np.concatenate([*map(np.ravel, ends), np.zeros(0)]))
    return axis(of.quantity.label, *ends, kept)


def _table(each: Slice, surfaces: Sequence[Surface], made: Sequence[Predicted]) -> str:
    cells: list[list[str]] = [[f"{value!r}"] for value in each.values]
    for said in made:
        for line, *numbers, keeps in zip(cells, *said[each.name], each.keeps, strict=True):
            line += _cells(*numbers) if keeps else ["breaks a constraint", ""]
    names = [[of.quantity.heading("mean"), "± 2 sd"] for of in surfaces]
    return table([each.name, *(name for pair in names for name in pair)], cells)


def _cells(mean: float, low: float, high: float) -> list[str]:
    """A mean and how far its band reaches: in both directions, unless no value is possible beyond one of its ends."""
    return [rounded(mean), f"{max(high - mean, mean - low):.2g}"]


def _observed(of: Surface, space: Space, here: Sequence[float], each: Slice, up: Axis) -> list[Dots]:
    """The values measured within the frame: those near the slice, those elsewhere, and those that are called wrong."""
    i = space.names.index(each.name)
    kinds: dict[str, list[tuple[float, float, str]]] = {kind: [] for kind in KINDS}
    for params, value, is_wrong, title in of.values:
        if each.name not in params or not up.low <= value <= up.high:
            continue
        at = space.to_unit(params)
        is_near = all(abs(a - b) <= NEAR for k, (a, b) in enumerate(zip(at, here, strict=True)) if k != i)
        kind = "called wrong" if is_wrong else "measured near the slice" if is_near else "measured elsewhere"
        kinds[kind].append((at[i], value, title))
    made = []
    for kind, places in kinds.items():
        (fill, stroke), shape = KINDS[kind], "X" if kind == "called wrong" else "o"
        x, y, titles = zip(*places, strict=True) if places else ((), (), ())
        made.append(Dots(kind, fill, stroke, np.array(x), np.array(y), shape, 3.0, titles=titles))
    return made


def _curve(
    each: Slice,
    of: Surface,
    up: Axis,
    said: tuple[np.ndarray, np.ndarray, np.ndarray],
    where: str,
    observed: Sequence[Dots],
) -> Chart:
    (mean, low, high), wanted = said, of.wanted
    over = across(each)
    bound = [] if wanted is None else limits(wanted, over, up)
    drawn = [*shades(each, up), *bound, *curves(each, mean, low, high), upright(each.here, up)]
    about = (
        f"{each.name}: prediction through {where}"
        if wanted is None
        else (f"{wanted.name} by {each.name}: prediction through {where}")
    )
    height = HEIGHT if wanted is None else LOWER
    return Chart(about, over, up, drawn, [*observed, *dots(each, mean)], height=height)
