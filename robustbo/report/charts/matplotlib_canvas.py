"""Charts as pictures by matplotlib, which need not be there: ``plt`` is None then."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from robustbo.report.charts.chart import Axis, Chart, Dots, Line
from robustbo.trials.storage.whole import replace

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

FORMATS = (".png", ".pdf", ".svg")
ALONE, SEVERAL = 8.4, 3.4  # inches that a chart is wide, alone with its legend and beside others
RIGHTMOST = 0.9  # of an axis; words at a place beyond are on its left
INCHES = 4.3 / 300  # of a chart's height


def draw(rows: Sequence[Sequence[Chart]], path: Path, title: str = "") -> bool:
    """Draw charts into one picture with one legend; returns whether it was drawn: it is not without matplotlib.

    What a chart's axis has in common with its neighbour's on the left, or below, is written there alone.

    Args:
        rows: From top to bottom; a chart that is alone in its row is as wide as the picture.
        path: Of the picture; its suffix says the format.
        title: Of all.
    """
    if plt is None:
        return False
    across, scale = max(map(len, rows)), 1.0 if max(map(len, rows)) == 1 else 0.62
    heights = [max(chart.height for chart in row) * INCHES * scale + 0.3 * (across > 1) for row in rows]
    width = ALONE if across == 1 else max(ALONE, SEVERAL * across)
    figure = plt.figure(figsize=(width, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(rows), across, height_ratios=heights)
    labels: dict[str, Any] = {}
    for i, row in enumerate(rows):
        for j, chart in enumerate(row):
            axes = figure.add_subplot(grid[i, :] if len(row) == 1 else grid[i, j])
            _draw(axes, chart, labels, 9.0 if across > 1 else 10.0)
            below = rows[i + 1] if i + 1 < len(rows) else ()
            _once(axes, "y", chart.y, row[j - 1].y if j else None)
            _once(axes, "x", chart.x, below[j].x if len(below) == len(row) else None)
    figure.suptitle(as_text(title), fontsize=12)
    finish(figure, path, labels)
    return True


def as_text(text: str) -> str:
    """A text for a picture as it is, whose dollars begin no formula.

    Example:
        >>> as_text("cost in $") == "cost in " + chr(92) + "$"
        True
    """
    return text.replace("$", r"\$")


def finish(figure: Any, path: Path, labels: dict[str, Any]) -> None:
    """Write a figure, its legend beside it, without what changes from one machine to the next, and close it."""
    if labels:
        figure.legend(labels.values(), map(as_text, labels), frameon=False, loc="outside right center")
    picture = BytesIO()
    form = path.suffix.removeprefix(".")
    figure.savefig(picture, format=form, dpi=160, metadata={"Software": None} if form == "png" else None)
    replace(path, picture.getvalue())
    plt.close(figure)


def _draw(axes: Any, chart: Chart, labels: dict[str, Any], size: float) -> None:
    """A chart within axes; what is new in the legend is added to the labels."""
    for line in chart.lines:
        _add(labels, line.label, _line(axes, line))
    for dots in chart.dots:
        _add(labels, dots.label, _dots(axes, chart, dots))
    for note in chart.notes:
        is_left = chart.x.share(note.x) > RIGHTMOST
        away, side = ((-3, 2), "right") if is_left else ((3, 2), "left")
        how: dict[str, Any] = {"textcoords": "offset points", "color": "#666666", "ha": side, "fontsize": size - 2}
        axes.annotate(as_text(note.text), (note.x, note.y), away, **how)
    axes.set_title(as_text(chart.title), fontsize=size)
    for name, axis in (("x", chart.x), ("y", chart.y)):
        _axis(axes, name, axis, size)
    if chart.y.names:
        axes.grid(axis="x", color="#e4e4e4")
        axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _axis(axes: Any, name: str, axis: Axis, size: float) -> None:
    getattr(axes, f"set_{name}scale")("log" if axis.is_log else "linear")
    getattr(axes, f"set_{name}lim")(axis.low, axis.high)
    places, texts = zip(*axis.ticks(), strict=True)
    getattr(axes, f"set_{name}ticks")(places, [*map(as_text, texts)], fontsize=size - 1, minor=False)
    getattr(axes, f"set_{name}label")(as_text(axis.label), fontsize=size)


def _once(axes: Any, name: str, axis: Axis, neighbour: Axis | None) -> None:
    """Leave away what the neighbour's axis says: its label, and what is written along it if all is the same."""
    if neighbour is not None and neighbour.label == axis.label:
        getattr(axes, f"set_{name}label")("")
    if neighbour == axis:
        axes.tick_params(axis=name, labelleft=name == "x", labelbottom=name == "y")


def _add(labels: dict[str, Any], label: str, mark: Any) -> None:
    if label:
        labels.setdefault(label, mark)


def _line(axes: Any, line: Line) -> Any:
    dash = (0, tuple(float(part) / line.width for part in line.dash.split())) if line.dash else "-"
    (mark,) = axes.plot(line.x, line.y, color=line.color, linestyle=dash, linewidth=0.9 * line.width)
    if line.low is not None and line.high is not None:
        band = axes.fill_between(line.x, line.low, line.high, color=line.color, alpha=0.15, linewidth=0)
        return mark if np.isfinite(line.y).any() else band
    return mark


def _dots(axes: Any, chart: Chart, dots: Dots) -> Any:
    """Draw marks, those beyond the frame at its edge, as on a page."""
    x, y = _within(dots.x, chart.x), _within(dots.y, chart.y)
    how: dict[str, Any] = {"marker": dots.shape, "clip_on": False, "zorder": 3}
    how |= {"color": dots.stroke} if dots.shape == "|" else {"facecolors": dots.fill, "edgecolors": dots.stroke}
    return axes.scatter(x, y, s=(1.5 * dots.size) ** 2, alpha=0.8, **how)


def _within(values: np.ndarray, axis: Axis) -> np.ndarray:
    return values.clip(min(axis.low, axis.high), max(axis.low, axis.high))
