"""A page's section of slices through a point: what is predicted where one parameter moves and the others stay."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from robustbo.loop.fitted import Fitted
from robustbo.report import svg
from robustbo.report.chart import GRAY, HEIGHT, Axis, Chart, Dots, axis
from robustbo.report.fates import ORANGE, near
from robustbo.report.html import table
from robustbo.report.one_outcome import BLACK, bounds, limits
from robustbo.report.slices import INCUMBENT, Slice, across, curves, dots, guide, shades, slices, upright
from robustbo.rounding import rounded
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import Wanted

NEAR = 0.1  # of each range, that the other parameters of a value near a slice may be away
KINDS = {"elsewhere": ("none", GRAY), "near": (BLACK, "none"), "wrong": (ORANGE, "none")}  # fill and outline
DOTS = (
    "Dots: measured values within the frame, filled where all other parameters are within a tenth of their range, "
    "hollow elsewhere; orange crosses: called wrong."
)
LOWER = 200.0  # of a chart that is one of several
Predicted = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # by parameter: mean, and the ends of the band


class Value(NamedTuple):
    """A measured value: where, and whether it is called wrong."""

    params: Mapping[str, Any]
    value: float
    is_wrong: bool


class Surface(NamedTuple):
    """What a surrogate predicts: of one of several outcomes, of which something is wanted, or of the only one."""

    fitted: Fitted
    quantity: Outcome
    wanted: Wanted | None = None
    values: Sequence[Value] = ()


def measured(history: History, suspects: Sequence[Mapping[str, Any]], outcome: str | None = None) -> list[Value]:
    """The told values of a history.

    Args:
        history: Of several outcomes, what one of them sees.
        suspects: The ``outliers`` of an overview.
        outcome: Which, of several.
    """
    wrong = {each["trial"] for each in suspects if each["flagged"] and each.get("outcome") == outcome}
    return [Value(t.params, t.measured, t.number in wrong) for t in history.having("told")]


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
    has_bounds = any(of.wanted is not None and of.wanted.is_constrained for of in surfaces)
    more = " Dashed: a bound; gray: beyond it." if has_bounds else ""
    parts = [f"<p>{escape(guide(space, where))}{more} {DOTS if any(of.values for of in surfaces) else ''}</p>"]
    for each in found:
        parts.append(f"<h3>{escape(each.name)}</h3>" + (f"<p>{escape(each.note)}.</p>" if each.note else ""))
        if len(each.units) and each.is_table:
            parts.append(_table(each, surfaces, made))
        elif len(each.units):
            parts += [
                _curve(each, of, up, said[each.name], where, _observed(of, space, space.to_unit(params), each, up))
                for of, up, said in zip(surfaces, ups, made, strict=True)
            ]
    return "".join(parts)


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
    kinds: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for params, value, is_wrong in of.values:
        if each.name not in params or not up.low <= value <= up.high:
            continue
        at = space.to_unit(params)
        is_near = all(abs(a - b) <= NEAR for k, (a, b) in enumerate(zip(at, here, strict=True)) if k != i)
        kinds["wrong" if is_wrong else "near" if is_near else "elsewhere"].append((at[i], value))
    made = []
    for kind, places in kinds.items():
        (x, y), (fill, stroke) = np.array(places, dtype=float).reshape(-1, 2).T, KINDS[kind]
        made.append(Dots("", fill, stroke, x, y, shape="X" if kind == "wrong" else "o", size=3.0))
    return made


def _curve(
    each: Slice,
    of: Surface,
    up: Axis,
    said: tuple[np.ndarray, np.ndarray, np.ndarray],
    where: str,
    observed: Sequence[Dots],
) -> str:
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
    return svg.draw(Chart(about, over, up, drawn, [*observed, *dots(each, mean)], height=height))
