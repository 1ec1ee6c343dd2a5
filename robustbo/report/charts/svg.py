"""Charts as SVG text, which a page can hold, a printer print and a reader switch on and off."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

import numpy as np

from robustbo.report.charts.chart import Cells, Chart, Dots, Line, labels

WIDTH = 640
SCROLLED = '<div class="scroll" tabindex="0" role="group" aria-label="{}">'  # can be reached by keys, to scroll
LEFT, NAMED, RIGHT, TOP, BOTTOM = 72, 170, 12, 12, 40  # NAMED is on the left of names
SHAPES = {  # of half width 1
    "X": "M-1-.5-.5-1 0-.5.5-1 1-.5.5 0 1 .5.5 1 0 .5-.5 1-1 .5-.5 0z",
    "D": "M0-1 1 0 0 1-1 0z",
    "s": "M-1-1H1V1H-1z",
    "|": "M0-1V1",
}
INKS = {
    "#000000": "currentColor",
    "#0072B2": "var(--blue)",
    "#777777": "var(--faint)",
    "#555555": "var(--faint)",
    "#e4e4e4": "var(--rule)",
}
LETTER, LINE_HEIGHT = 6.8, 12.0  # what a letter takes, at the most of what is usual
SWATCH = 'class="swatch" aria-hidden="true"'
Points = list[tuple[float, float]]


def draw(chart: Chart) -> str:
    """A chart as HTML: an SVG picture that scrolls where it is wider than the screen."""
    on = _On(chart)
    marks = [*on.axes(), *on.cells(), *map(on.line, chart.lines), *map(on.dots, chart.dots), *on.notes()]
    label = escape(chart.about or chart.title, quote=True)
    head = f'<svg viewBox="0 0 {WIDTH} {chart.height:g}" role="img" aria-label="{label}">'
    return f"{SCROLLED.format('chart')}{head}{''.join(marks)}</svg></div>"


class _On:
    """The picture that a chart is drawn on."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart
        longest = max((len(name) for _, name in chart.y.ticks()), default=0)
        is_named = bool(chart.y.names) and chart.cells is None
        self._left = NAMED if is_named else min(max(LEFT, 30 + LETTER * longest), WIDTH / 2)
        self._bottom = chart.height - BOTTOM

    def across(self, x: float) -> float:
        return round(self._left + self._chart.x.share(x) * (WIDTH - self._left - RIGHT), 1)

    def up(self, y: float) -> float:
        return round(self._bottom - self._chart.y.share(y) * (self._bottom - TOP), 1)

    def places(self, x: np.ndarray, y: np.ndarray) -> Points:
        return [(self.across(a), self.up(b)) for a, b in zip(x, y, strict=True) if math.isfinite(b)]

    def axes(self) -> list[str]:
        """Labels, what is written along them, and thin lines where a number is: along the names, if there are any."""
        chart, left, bottom = self._chart, self._left, self._bottom
        marks = []
        for value, name in chart.x.ticks():
            x = self.across(value)
            if chart.y.names:
                marks.append(f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom:g}" stroke="var(--rule)"/>')
            marks.append(_text(name, min(x, WIDTH - LETTER * len(name) / 2), bottom + 16))
        for value, name in chart.y.ticks():
            y = self.up(value)
            if not chart.y.names:
                marks.append(f'<line x1="{left}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="var(--rule)"/>')
            marks.append(_text(name, left - 9, y + 4, "end"))
        middle = (bottom + TOP) / 2
        marks.append(_text(chart.x.label, (WIDTH + left) / 2, chart.height - 6))
        if chart.y.label:
            marks.append(_text(chart.y.label, 14, middle, more=f' transform="rotate(-90 14 {middle:g})"'))
        return marks

    def cells(self) -> list[str]:
        """The cells of a map; neighbors of one color in a row are one rectangle."""
        cells = self._chart.cells
        if cells is None:
            return []
        x, y, marks = [self.across(at) for at in cells.x], [self.up(at) for at in cells.y], []
        for row, bands in enumerate(cells.bands().tolist()):
            at = 0
            for band, run in groupby(bands):
                begin, at = at, at + len([*run])
                if band >= 0:
                    size = f'width="{x[at] - x[begin]:g}" height="{y[row] - y[row + 1]:g}"'
                    marks.append(f'<rect x="{x[begin]}" y="{y[row + 1]}" {size} fill="{cells.colors[band]}"/>')
        return [f'<g shape-rendering="crispEdges">{"".join(marks)}</g>']

    def line(self, line: Line) -> str:
        """A curve over its band."""
        band = ""
        if line.low is not None and line.high is not None:
            is_there = np.isfinite(line.low) & np.isfinite(line.high)
            x, low, high = (np.asarray(values)[is_there] for values in (line.x, line.low, line.high))
            around = _points(self.places(x, low) + self.places(x, high)[::-1])
            band = f'<polygon points="{around}" fill="{_ink(line.color)}" fill-opacity="0.13"/>' if len(x) else ""
        stroke = f'stroke="{_ink(line.color)}" stroke-width="{line.width:g}" stroke-dasharray="{line.dash}"'
        curve = f'<polyline points="{_points(self.places(line.x, line.y))}" fill="none" {stroke}/>'
        return f'<g class="{line.key}">{band}{curve}</g>'

    def dots(self, dots: Dots) -> str:
        """Marks of one kind; where they lie on each other that is seen, and each has its title."""
        titles = dots.titles or [""] * len(dots.x)
        marks = [
            _mark(dots, self.across(x), self.up(y), title)
            for x, y, title in zip(dots.x, dots.y, titles, strict=True)
            if math.isfinite(y)
        ]
        return f'<g class="{dots.key}" {_look(dots)}>{"".join(marks)}</g>'

    def notes(self) -> list[str]:
        """Words, over their places."""
        texts, boxes = [], list[tuple[float, float, float]]()
        for note in self._chart.notes:
            x, y, width = self.across(note.x) + 4, self.up(note.y) - 3, LETTER * len(note.text)
            x -= width + 8 if x + width > WIDTH else 0
            step = LINE_HEIGHT if y < self._bottom / 2 else -LINE_HEIGHT
            while any(abs(y - b) < LINE_HEIGHT and x < a + w and a < x + width for a, b, w in boxes):
                y += step
            boxes.append((x, y, width))
            texts.append(_text(note.text, x, y, "start", ' class="note"'))
        return texts


def legend(*charts: Chart) -> str:
    """The meaning of the marks of charts, as HTML: a swatch and a name of each kind, of one chart its count."""
    items = {text: swatch for chart in charts if chart.cells is not None for text, swatch in _scale(chart.cells)}
    for dots in (dots for chart in charts for dots in chart.dots):
        if dots.label and len(dots.x):
            swatch = f'<svg viewBox="-9 -9 18 18" {SWATCH}><g {_look(dots)}>{_mark(dots, 0, 0)}</g></svg>'
            items.setdefault(dots.label + (f": {len(dots.x)}" if len(charts) == 1 else ""), swatch)
    for line in (line for chart in charts for line in chart.lines):
        if line.label and len(line.x):
            items.setdefault(line.label, f'<svg viewBox="0 0 28 10" {SWATCH}>{_swatch(line)}</svg>')
    texts = "".join(f"<span>{swatch} {escape(label)}</span>" for label, swatch in items.items())
    return f'<p class="legend">{texts}</p>' if texts else ""


def _scale(cells: Cells) -> Iterator[tuple[str, str]]:
    """The colors of a map that occur, and what each means."""
    ends, occurring = labels(cells.ends), set(cells.bands().ravel().tolist())
    for band, color in enumerate(cells.colors):
        if band in occurring:
            square = f'<svg viewBox="0 0 14 10" {SWATCH}><rect width="14" height="10" fill="{color}"/></svg>'
            yield f"{ends[band]} to {ends[band + 1]}", square


def _swatch(line: Line) -> str:
    """A piece of a curve; of its band, where it has no more."""
    color = _ink(line.color)
    if not np.isfinite(line.y).any():
        return f'<rect width="28" height="10" fill="{color}" fill-opacity="0.13"/>'
    return (
        f'<line x1="0" x2="28" y1="5" y2="5" stroke="{color}" stroke-width="{line.width:g}" '
        f'stroke-dasharray="{line.dash}"/>'
    )


def _look(dots: Dots) -> str:
    look = f'fill="{_ink(dots.fill)}" stroke="{_ink(dots.stroke)}" fill-opacity="0.7"'
    return look + (' stroke-width="2"' if dots.shape == "|" else "")


def _mark(dots: Dots, x: float, y: float, title: str = "") -> str:
    """One mark; its title is shown where a reader points at it."""
    if (shape := SHAPES.get(dots.shape)) is None:
        kind, where = "circle", f'cx="{x}" cy="{y}" r="{dots.size:g}"'
    else:
        scaled = f'scale({dots.size:g})" vector-effect="non-scaling-stroke"'
        kind, where = "path", f'd="{shape}" transform="translate({x} {y}) {scaled}'
    return f"<{kind} {where}" + (f"><title>{escape(title)}</title></{kind}>" if title else "/>")


def _text(text: str, x: float, y: float, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _ink(color: str) -> str:
    """A color as a page has it, which may be dark: black is the color of its text, and grays are from its style."""
    return INKS.get(color, color)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
