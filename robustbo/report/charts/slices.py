"""Slices: one parameter moves, the others stay as they are at the incumbent, or follow from it."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch

from robustbo.report.charts.chart import GRAY, Axis, Dots, Line, labels, round_values
from robustbo.report.charts.palette import COLORS
from robustbo.searchspace.conditions import condition_text
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter, Value
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.space import Space

POINTS = 61  # of a slice
TICKS = 6  # values of a parameter that are written along the axis, at most, if it has so few
MOST_DOTS = 31  # values of a parameter that are marked one by one
MOST_NAMES = 8  # values of an ordinal that are written along the axis
LETTERS = 60  # in them
INCUMBENT = "the incumbent"
GRAY_MEANS = "Gray: a constraint is broken there."


class Slice(NamedTuple):
    """A parameter that moves through a point.

    Attributes:
        name: Of the parameter.
        parameter: It.
        note: What is to be said of it, such as why there is no slice; or "".
        center: Its unit coordinate at the point.
        units: Its ``n`` unit coordinates; none where there is no slice.
        rows: ``n`` unit-cube rows.
        keeps: Which of them are points that keep the constraints.
    """

    name: str
    parameter: Parameter
    note: str = ""
    center: float = 0.5
    units: np.ndarray = np.zeros(0)
    rows: Sequence[list[float]] = ()
    keeps: np.ndarray = np.zeros(0, dtype=bool)

    @property
    def is_table(self) -> bool:
        """Return whether a table of values shows it better than a curve."""
        return isinstance(self.parameter, Choice) or (isinstance(self.parameter, Ordinal) and not _has_room(self))

    @property
    def values(self) -> Sequence[Value]:
        """The values of one that is read as a table."""
        return [self.parameter.nth(index) for index in range(self.parameter.count or 0)]


def slices(space: Space, params: Mapping[str, Any], where: str = INCUMBENT) -> list[Slice]:
    """The slices through a point, which is called so in words, one a parameter of more than one value."""
    at, region, along = space.to_unit(params), region_of(space), list[Slice]()
    dependents = region.face_at(torch.tensor(at, dtype=torch.float64)).dependents
    follows = {dependent.name: list(dependent.coefficients) for dependent in dependents}
    for i, (name, parameter) in enumerate(space.parameters):
        if parameter.count == 1:
            continue
        if name not in params:
            along.append(Slice(name, parameter, f"Exists only where {condition_text(parameter)}: not at {where}"))
        elif name in follows:
            along.append(Slice(name, parameter, f"Follows from {' and '.join(follows[name])} by the constraints"))
        else:
            along.append(_slice(region, at, i, [d.name for d in dependents if name in d.coefficients]))
    return along


def _slice(region: Region, at: Sequence[float], i: int, moved: Sequence[str]) -> Slice:
    name, parameter = region.space.parameters[i]
    units = list(parameter.levels or [k / (POINTS - 1) for k in range(POINTS)])
    rows, keeps = complete_rows(region, [[*at[:i], unit, *at[i + 1 :]] for unit in units])
    note = f"As it moves, {' and '.join(moved)} follow{'s' * (len(moved) == 1)} by the constraints" if moved else ""
    return Slice(name, parameter, note, at[i], np.array(units), rows, keeps)


def complete_rows(region: Region, rows: list[list[float]]) -> tuple[list[list[float]], np.ndarray]:
    """Unit-cube rows with what follows from others filled in, and which of them keep the constraints."""
    if region.space.is_plain:
        return rows, np.ones(len(rows), dtype=bool)
    U = region.complete(torch.tensor(rows, dtype=torch.float64))
    return region.canonical(U.clamp(0.0, 1.0)).tolist(), region.holds(U).numpy()


def guide(space: Space, where: str = INCUMBENT) -> str:
    """Sentences on how the slices of a space are to be read."""
    texts = [f"Mean and twice its standard deviation as one parameter moves; upright: {where}."]
    if space.constraints:
        texts.append(GRAY_MEANS)
    if space.is_conditional:
        texts.append(f"What does not exist at {where} is taken at its middle where it begins to exist.")
    if single := [f"{name} is {p.nth(0)!r}" for name, p in space.parameters if p.count == 1]:
        texts.append(f"Of one value, without a slice: {', '.join(single)}.")
    return " ".join(texts)


def across(of: Slice) -> Axis:
    """The axis of the parameter that moves."""
    return unit_axis(of.name, of.parameter)


def unit_axis(name: str, parameter: Parameter) -> Axis:
    """The axis of a parameter's unit coordinate, with its values along it."""
    if isinstance(parameter, Choice | Ordinal):
        most = MOST_NAMES if isinstance(parameter, Ordinal) else len(parameter.values)
        shown = [*range(0, len(parameter.values), -(-len(parameter.values) // most))]
        names = [(parameter.levels[k], str(parameter.values[k])) for k in shown]
    else:
        numbers = _round(parameter)
        names = list(zip(map(parameter.to_unit, numbers), labels(numbers), strict=True))
    return Axis(name, 0.0, 1.0, names=tuple(names))


def _round(parameter: Int | Float) -> list[float]:
    """The round values of a parameter; all where it has few, and some of its steps where none is round."""
    count = parameter.count
    if count is not None and count <= TICKS:
        return [float(parameter.nth(index)) for index in range(count)]
    low, high = parameter.interval
    values = round_values(low, high, is_log=parameter.log, is_whole=isinstance(parameter, Int))
    near, span = [float(parameter.from_unit(parameter.to_unit(value))) for value in values], high - low
    round_ones = [v for v, w in zip(values, near, strict=True) if math.isclose(v, w, rel_tol=1e-6, abs_tol=1e-9 * span)]
    if len(round_ones) > 1 or count is None:
        return round_ones
    return [float(parameter.nth(index)) for index in range(0, count, -(-count // TICKS))]


def _has_room(of: Slice) -> bool:
    """Return whether the axis has room for the values of an ordinal."""
    return sum(len(text) for _, text in across(of).names) <= LETTERS


def upright(place: float, up: Axis) -> Line:
    """The line at the incumbent."""
    return Line("", GRAY, np.array([place, place]), np.array([up.low, up.high]), dash="2 4")


def curves(of: Slice, y: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None) -> list[Line]:
    """The curves of a slice: one wherever the constraints are kept without a break."""

    def part(values: np.ndarray | None, begin: int, end: int) -> np.ndarray | None:
        return None if values is None else values[begin:end]

    return [
        Line("", COLORS[0], of.units[a:b], y[a:b], part(low, a, b), part(high, a, b))
        for a, b in _runs(of.keeps, is_kept=True)
    ]


def dots(of: Slice, y: np.ndarray) -> list[Dots]:
    """Marks at the values of a parameter that has few."""
    if not of.parameter.levels or len(of.units) > MOST_DOTS:
        return []
    return [Dots("", COLORS[0], "none", of.units[of.keeps], y[of.keeps], size=3.5)]


def shades(of: Slice, up: Axis) -> list[Line]:
    """Gray bands over where a constraint is broken."""
    edges = np.array([0.0, *(of.units[1:] + of.units[:-1]) / 2, 1.0])
    nothing, low, high = np.full(2, np.nan), np.full(2, up.low), np.full(2, up.high)
    return [Line("", GRAY, edges[[a, b]], nothing, low, high) for a, b in _runs(of.keeps, is_kept=False)]


def _runs(keeps: np.ndarray, *, is_kept: bool) -> list[tuple[int, int]]:
    """The begins and ends of runs of True (or of False)."""
    runs, begin = [], 0
    for value, run in groupby(keeps.tolist()):
        end = begin + len(list(run))
        if value == is_kept:
            runs.append((begin, end))
        begin = end
    return runs
