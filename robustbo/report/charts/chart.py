"""Charts as data: curves, dots and notes within two axes. `svg` and `matplotlib_canvas` draw them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FARTHEST = 1e300  # so that a range has a finite width
MARGIN = 0.03  # of a range, beyond what is drawn
HEIGHT, ROW = 300.0, 22.0
GRAY = "#777777"


class Line(NamedTuple):
    """One curve.

    Attributes:
        label: In the legend; "" for none.
        color: Of the curve.
        x: ``n`` places.
        y: ``n`` values; NaN leaves a gap.
        low: ``n`` lower ends of a band, or None.
        high: ``n`` upper ends.
        dash: Lengths of dashes and gaps, as SVG has them; "" for a solid line.
        key: Class of its marks, by which a page switches them.
        width: Of the stroke.
    """

    label: str
    color: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    dash: str = ""
    key: str = ""
    width: float = 2.0


class Dots(NamedTuple):
    """Marks of one kind: where, and how they are drawn; of those beyond the frame the place at its edge.

    Attributes:
        label: In the legend; "" for none.
        fill: Their color, or "none".
        stroke: The color of their outline, or "none".
        x: ``n`` places.
        y: ``n`` values.
        shape: "o", "X", "D", "s" or "|": a circle, a cross, a diamond, a square or a tick.
        size: Half their width.
        key: As a line's.
        titles: What a page says of each where a reader points at it; none or ``n`` texts.
    """

    label: str
    fill: str
    stroke: str
    x: np.ndarray
    y: np.ndarray
    shape: str = "o"
    size: float = 4.0
    key: str = ""
    titles: Sequence[str] = ()


class Note(NamedTuple):
    """A few words at a place."""

    text: str
    x: float
    y: float


class Cells(NamedTuple):
    """Colored cells behind all else: a map of one quantity over two others.

    Attributes:
        label: Of the quantity.
        x: ``m + 1`` places of the edges of cells across.
        y: ``n + 1`` places upwards.
        values: ``n x m`` numbers; a cell of NaN is left out.
        ends: ``k + 1`` rising ends of the bands of values that have a color each.
        colors: ``k`` colors.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    ends: Sequence[float]
    colors: Sequence[str]

    def bands(self) -> np.ndarray:
        """``n x m`` places of each cell's color; -1 where a cell is left out."""
        bands = np.searchsorted(self.ends[1:-1], np.nan_to_num(self.values), side="right")
        return np.where(np.isfinite(self.values), bands, -1)


class Axis(NamedTuple):
    """An axis: its label, its range, whether by powers of ten, names along it instead of numbers, and whether it is of
    whole numbers alone, such as those of trials.

    A range whose low end is above its high one is drawn from top to bottom.
    """

    label: str
    low: float
    high: float
    is_log: bool = False
    names: tuple[tuple[float, str], ...] = ()
    is_whole: bool = False

    def share(self, value: float) -> float:
        """The place of a value: 0 at the low end, 1 at the high one; that of a value beyond is at the edge."""
        if self.is_log:
            low, high, value = math.log(self.low), math.log(self.high), math.log(max(value, 1e-300))
        else:
            low, high = self.low, self.high
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Places along it and what is written there."""
        if self.names:
            return list(self.names)
        low, high = sorted((self.low, self.high))
        values = round_values(low, high, is_log=self.is_log, is_whole=self.is_whole)
        return list(zip(values, labels(values), strict=True))


class Chart(NamedTuple):
    """A chart.

    Attributes:
        title: Above it in a picture.
        x: The axis across.
        y: The axis upwards.
        lines: Behind.
        dots: Those of the last kind on top.
        notes: Words in it.
        height: Of a page's chart, which is 640 wide; a picture's are in proportion.
        about: What it shows, for those who cannot see it; the title by default.
        cells: Of a map, behind all else; pages alone draw them.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line] = ()
    dots: Sequence[Dots] = ()
    notes: Sequence[Note] = ()
    height: float = HEIGHT
    about: str = ""
    cells: Cells | None = None


class Strip(NamedTuple):
    """One row of dots: its name, the color and the key of its marks, and ``n`` values."""

    name: str
    color: str
    key: str
    values: np.ndarray


def strips(title: str, rows: Sequence[Strip], axis: Axis, about: str = "") -> Chart:
    """A row of dots each, the first on top, with a bar at their mean."""
    lines, dots = [], []
    for row, (_, color, key, values) in enumerate(rows):
        finite = values[np.isfinite(values)]
        dots.append(Dots("", color, "none", finite, np.full(len(finite), float(row)), size=3.5, key=key))
        if len(finite):
            mean = np.full(2, finite.mean())
            lines.append(Line("", color, mean, np.array([row - 0.36, row + 0.36]), key=key, width=3.0))
    names = tuple((float(row), strip.name) for row, strip in enumerate(rows))
    height = ROW * len(rows) + 52
    return Chart(title, axis, Axis("", len(rows) - 0.5, -0.5, names=names), lines, dots, height=height, about=about)


def axis(
    label: str, *values: np.ndarray | None, margin: float = MARGIN, is_log: bool = False, is_whole: bool = False
) -> Axis:
    """An axis that holds all finite values, and a margin; of some width where there are none or one."""
    arrays = [np.asarray(a, dtype=float).ravel() for a in values if a is not None]
    joined = np.concatenate([*arrays, np.zeros(0)])
    ends = joined[np.isfinite(joined)].clip(-FARTHEST, FARTHEST)
    if is_log:
        ends = np.log(ends[ends > 0])
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    more = margin * (high - low) if high > low else max(0.5, 1e-9 * abs(low))
    low, high = low - more, high + more
    return Axis(label, math.exp(low), math.exp(high), True) if is_log else Axis(label, low, high, is_whole=is_whole)


def trials_axis(count: int, label: str = "trial") -> Axis:
    """The axis of so many trials."""
    return axis(label, np.array([0.0, count]), is_whole=True)


def round_values(low: float, high: float, *, is_log: bool = False, is_whole: bool = False) -> list[float]:
    """Round numbers within a range, for the marks along an axis; on a log scale where there are two by decades."""
    powers = decades(low, high) if is_log else []
    if is_whole:
        powers = [value for value in powers if value == round(value)]
    return powers if len(powers) > 1 else ticks(low, high, is_whole=is_whole)


def ticks(low: float, high: float, most: int = 6, *, is_whole: bool = False) -> list[float]:
    """Round numbers within a range: multiples of 1, 2 or 5 times a power of ten."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s <= most)
    step = max(step, 1.0) if is_whole else step
    decimals = 2 - math.floor(math.log10(step))
    return [round(k * step, decimals) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def decades(low: float, high: float, most: int = 8) -> list[float]:
    """Powers of ten within a range, of very many some; where there are fewer than three, 2 and 5 times them as well."""
    begin, end = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(begin, end + 1, -(-(end - begin) // most) or 1)
    values: list[float] = []
    for factors in ((1,), (1, 2, 5)):
        values = [float(f"{f}e{k}") for k in powers for f in factors if low <= float(f"{f}e{k}") <= high]
        if len(values) > 2:
            break
    return values


def labels(values: Sequence[float]) -> list[str]:
    """Numbers as text, with as few digits as tell them apart."""
    texts: list[str] = []
    for digits in range(3, 16):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts
