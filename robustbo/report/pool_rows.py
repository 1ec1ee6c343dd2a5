"""A page's sections on a pool: what was measured against what the others predict, and the best rows that are left."""

from html import escape

import numpy as np

from robustbo.loop.cache import FitCache
from robustbo.loop.failures import chances
from robustbo.loop.fit import fit
from robustbo.loop.outliers import outliers
from robustbo.report import svg
from robustbo.report.chart import Chart, Dots, Line, axis
from robustbo.report.html import table
from robustbo.report.palette import COLORS
from robustbo.searchspace.region.made import region_of
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.trial import point_of

BEST = 12  # rows that are listed
CHUNK = 500  # rows that are predicted at once: a prediction takes the square of them


def section(settings: Settings, history: History, fits: FitCache) -> str:
    """The sections, of a history with told values."""
    return (
        "<h2>Measured against predicted</h2>"
        + _calibration(settings, history, fits)
        + "<h2>The best rows not yet measured</h2>"
        + _best(settings, history, fits)
    )


def _calibration(settings: Settings, history: History, fits: FitCache) -> str:
    """Each value against what all the others predict there."""
    found = outliers(settings, history, fits, is_weighed=False)
    believed = [o for o in found if not o.flagged]
    shown = believed or found
    ends = np.array([e for o in shown for e in (o.value, o.expected)])
    over, up = axis("predicted by the others", ends, margin=0.06), axis("measured value", ends, margin=0.06)
    diagonal = Line("", "#777777", np.array([over.low, over.high]), np.array([over.low, over.high]), dash="2 4")
    marks = []
    for label, color, shape, is_flagged in (
        ("believed", COLORS[0], "o", False),
        ("called wrong", COLORS[1], "X", True),
    ):
        pairs = np.array([(o.expected, o.value) for o in found if o.flagged == is_flagged])
        if len(pairs):
            marks.append(Dots(label, color, "none", pairs[:, 0], pairs[:, 1], shape=shape))
    chart = Chart("", over, up, [diagonal], marks, about="measured values against what the others predict")
    return svg.draw(chart) + (
        "<p>A row of the pool is predicted from all other values: on the dotted line they agree. Blue: believed; "
        "orange cross: called wrong (at the frame's edge where it is beyond).</p>"
    )


def _best(settings: Settings, history: History, fits: FitCache) -> str:
    """The rows that nobody has measured or is measuring, the best prediction first."""
    space, region = space_of(settings, history), region_of(space_of(settings, history))
    taken = {trial.point for trial in history if trial.is_open or trial.state == "told"}
    free = [point for point in region.listed or [] if point_of(point) not in taken]
    if not free:
        return "<p>Every row that may be asked for has been measured, or is being measured.</p>"
    rows, fitted = [space.to_unit(point) for point in free], fit(settings, history, fits)
    means, sds = list[float](), list[float]()
    for begin in range(0, len(rows), CHUNK):
        mean, sd = fitted.predict(fitted.encoded(rows[begin : begin + CHUNK]))
        means, sds = means + mean, sds + sd
    order = sorted(range(len(rows)), key=lambda k: -settings.sign * means[k])[:BEST]
    p = chances(settings, history, [rows[k] for k in order], fits) if history.having("failed") else []
    header = [*space.names, "predicted value", "± 2 sd", *(["probability of a value"] if p else [])]
    lines = [
        [*(str(value) for value in free[k].values()), f"{means[k]:.6g}", f"{2 * sds[k]:.2g}"]
        + ([f"{p[place]:.2f}"] if p else [])
        for place, k in enumerate(order)
    ]
    count = f"{len(free)} rows are left" if len(free) > BEST else "These are all that are left"
    return table(header, lines) + f"<p>{escape(count)}.</p>"
