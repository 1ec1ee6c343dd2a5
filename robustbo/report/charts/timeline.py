"""An optimization's timeline: each value, which were called wrong when, and which were cleared again."""

from pathlib import Path

import numpy as np

from robustbo.errors import RobustBOError
from robustbo.report.charts import matplotlib_canvas, several_charts
from robustbo.report.charts.chart import Axis, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.marks import (
    ORANGE,
    TICK,
    at_trials,
    by_fate,
    edge_notes,
    failure_ticks,
    old_band,
    values_in_frame,
)
from robustbo.report.charts.one_outcome import best_so_far
from robustbo.report.summary.failures import failures_of
from robustbo.trials.history import History
from robustbo.view.view import View

NEEDED = "a picture needs matplotlib, which is not installed; install robustbo[report]"


def values(view: View) -> Chart:
    """The values by trial and what has become of them, the best point so far, and ticks where one failed.

    The frame is around the values that are believed: a wrong one that is far from them is drawn at its edge.

    Raises:
        FitError: If no surrogate can judge the values.
    """
    settings, history, judged = view.settings, view.of_target, view.outliers()
    fates = by_fate(history, judged)
    dots = at_trials(settings, history, fates, judged)
    line = best_so_far(view.bests(), len(history))
    up = axis(settings.quantity.heading("measured value"), values_in_frame(fates), line.y, margin=0.06)
    failures = failures_of(view)
    dots += failure_ticks(failures, [float(f.trial.number) for f in failures], up.low + TICK * (up.high - up.low))
    return Chart(
        f"{settings.surrogate}, {settings.goal}, {len(history)} trials",
        trials_axis(len(history)),
        up,
        [*old_band(history, up), line],
        dots,
        edge_notes(dots, up),
        about="values by trial; " + counts(dots),
    )


def counts(dots: list[Dots]) -> str:
    """The number of marks of each kind, in words."""
    return "; ".join(f"{kind.label}: {len(kind.x)}" for kind in dots)


def diagnoses(history: History) -> Chart:
    """The values that each diagnosis called wrong: a trial's place across, the diagnosis's from top to bottom."""
    numbers = [d.trial for d in history.diagnoses]
    lines = [Line("", "#bbbbbb", np.array([-0.5, n - 0.5]), np.array([n, n]), width=0.7) for n in numbers]
    dots = []
    for is_void, color, label in ((False, ORANGE, ""), (True, "#bbbbbb", "void: all are used")):
        pairs = [(number, d.trial) for d in history.diagnoses if d.void == is_void for number in d.outliers]
        if pairs:
            x, y = np.array(pairs, dtype=float).T
            dots.append(Dots(label, color, "none", x, y, shape="s", size=2.5))
    up = axis("diagnosis before trial", np.array(numbers, dtype=float))
    down = Axis(up.label, up.high, up.low)
    return Chart("", trials_axis(len(history)), down, lines, dots, height=180)


def draw(view: View, path: Path) -> None:
    """Draw an optimization: above, the values by trial; below, where there are diagnoses, what each called wrong.

    Of several outcomes: their front and its hypervolume by trial, and the values of each by trial.

    Args:
        view: The optimization.
        path: Of the picture; its suffix says the format.

    Raises:
        RobustBOError: If matplotlib is not installed or does not know the format, or nothing has been told.
    """
    if matplotlib_canvas.plt is None:
        raise RobustBOError(NEEDED)
    if path.suffix not in matplotlib_canvas.FORMATS:
        formats = ", ".join(matplotlib_canvas.FORMATS)
        raise RobustBOError(f"the picture's name must end in one of {formats}, got {path.name!r}")
    history = view.of_target
    if not history.having("told"):
        raise RobustBOError("a timeline needs at least one told value, got none")
    if view.settings.outcomes:
        rows = several_charts.rows(view)
    else:
        rows = [[values(view)], *([[diagnoses(history)]] if history.diagnoses else [])]
    matplotlib_canvas.draw(rows, path)
