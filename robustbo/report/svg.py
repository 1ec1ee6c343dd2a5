"""Line charts and scatter plots as SVG text, which a page can hold, a printer print and a reader switch on and off."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 72, 12, 12, 40
FARTHEST = 1e300  # so that a range has a finite width


class Line(NamedTuple):
    """One curve.

    Attributes:
        key: Class of its marks, by which they are switched.
        color: Of the curve.
        dash: SVG's dash pattern; "" for a solid line.
        x: ``n`` places.
        y: ``n`` values; NaN leaves a gap.
        low: ``n`` lower ends of a band, or None.
        high: ``n`` upper ends.
    """

    key: str
    color: str
    dash: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


class Dots(NamedTuple):
    """Marks of one kind: where, and how they are drawn."""

    label: str
    fill: str
    stroke: str
    x: np.ndarray
    y: np.ndarray


class Frame(NamedTuple):
    """The ranges that a chart shows, its labels, and places along x with names, where round numbers will not do."""

    x: tuple[float, float]
    y: tuple[float, float]
    xlabel: str
    ylabel: str
    xnames: tuple[tuple[float, str], ...] = ()

    def place(self, x: float, y: float) -> tuple[float, float]:
        """From values to points of the picture."""
        (x0, x1), (y0, y1) = self.x, self.y
        across = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM), 1)


def frame(x: Sequence[np.ndarray], y: Sequence[np.ndarray], xlabel: str, ylabel: str) -> Frame:
    """A frame that holds all finite values; of no width where there are none or one."""
    ranges = []
    for arrays in (x, y):
        values = np.concatenate([np.asarray(a, dtype=float).ravel() for a in arrays] or [np.zeros(1)])
        values = values[np.isfinite(values)].clip(-FARTHEST, FARTHEST)
        low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
        half = max(0.5, 1e-9 * abs(float(low)))
        ranges.append((float(low), float(high)) if high > low else (float(low) - half, float(low) + half))
    return Frame(ranges[0], ranges[1], xlabel, ylabel)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers within a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s <= most)
    decimals = 2 - math.floor(math.log10(step))
    return [round(k * step, decimals) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def labels(values: Sequence[float]) -> list[str]:
    """Numbers as text, with as few digits as tell them apart."""
    for digits in range(3, 16):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def lines(given: Sequence[Line], within: Frame, label: str) -> str:
    """Curves with their bands."""
    return _chart(_curves(given, within), within, label)


def _curves(given: Sequence[Line], within: Frame) -> list[str]:
    marks = []
    for line in given:
        here = [within.place(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)]
        band = ""
        if line.low is not None and line.high is not None:
            ends = [(x, a, b) for x, a, b in zip(line.x, line.low, line.high, strict=True) if math.isfinite(a + b)]
            around = [within.place(x, a) for x, a, _ in ends] + [within.place(x, b) for x, _, b in ends[::-1]]
            band = f'<polygon points="{_points(around)}" fill="{line.color}" fill-opacity="0.13"/>' if ends else ""
        stroke = f'fill="none" stroke="{line.color}" stroke-width="2" stroke-dasharray="{line.dash}"'
        marks.append(f'<g class="{line.key}">{band}<polyline points="{_points(here)}" {stroke}/></g>')
    return marks


def dots(given: Sequence[Dots], within: Frame, label: str, curves: Sequence[Line] = ()) -> str:
    """Marks, those of the last kind on top, over curves."""
    marks = _curves(curves, within)
    for kind in given:
        for x, y in zip(kind.x, kind.y, strict=True):
            across, up = within.place(x, min(max(y, within.y[0]), within.y[1]))
            marks.append(f'<circle cx="{across}" cy="{up}" r="4" fill="{kind.fill}" stroke="{kind.stroke}"/>')
    return _chart(marks, within, label)


class Strip(NamedTuple):
    """One row of dots: class and color of its marks, its name, and ``n`` values."""

    key: str
    color: str
    name: str
    values: np.ndarray


def strips(given: Sequence[Strip], xlabel: str, label: str) -> str:
    """A row of dots each, with a bar at their mean."""
    within = frame([strip.values for strip in given], [np.array([0.0, 1.0])], xlabel, "")
    left, row = 170, 22
    height = row * len(given) + BOTTOM + TOP

    def across(value: float) -> float:
        return round(left + (value - within.x[0]) / (within.x[1] - within.x[0]) * (WIDTH - left - RIGHT), 1)

    marks = []
    for value, text in _named(*within.x):
        x = across(value)
        marks.append(f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{height - BOTTOM}" stroke="#e4e4e4"/>')
        marks.append(f'<text x="{x}" y="{height - BOTTOM + 16}" text-anchor="middle">{text}</text>')
    for i, strip in enumerate(given):
        y = TOP + row * (i + 0.5)
        name = f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(strip.name)}</text>'
        values = [across(value) for value in strip.values if math.isfinite(value)]
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{strip.color}" fill-opacity="0.5"/>' for x in values)
        at = sum(values) / len(values) if values else left
        bar = f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y - 8}" y2="{y + 8}" stroke="{strip.color}" stroke-width="3"/>'
        marks.append(f'<g class="{strip.key}">{name}{dots}{bar if values else ""}</g>')
    marks.append(f'<text x="{(WIDTH + left) / 2}" y="{height - 6}" text-anchor="middle">{escape(xlabel)}</text>')
    return _picture(marks, height, label)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _chart(marks: Sequence[str], within: Frame, label: str) -> str:
    axes = []
    for value, name in within.xnames or _named(*within.x):
        x, _ = within.place(value, within.y[0])
        axes.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(name)}</text>')
    for value, name in _named(*within.y):
        _, y = within.place(within.x[0], value)
        axes.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#e4e4e4"/>')
        axes.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{name}</text>')
    middle = (HEIGHT - BOTTOM + TOP) / 2
    axes.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(within.xlabel)}</text>')
    turned = f'transform="rotate(-90 14 {middle})"'
    axes.append(f'<text x="14" y="{middle}" text-anchor="middle" {turned}>{escape(within.ylabel)}</text>')
    return _picture([*axes, *marks], HEIGHT, label)


def _named(low: float, high: float) -> list[tuple[float, str]]:
    values = ticks(low, high)
    return list(zip(values, labels(values), strict=True))


def _picture(marks: Sequence[str], height: float, label: str) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label, quote=True)}">'
    return f'<div class="scroll">{head}{"".join(marks)}</svg></div>'
