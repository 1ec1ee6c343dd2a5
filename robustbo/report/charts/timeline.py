"""An optimization's timeline: each value, which were called wrong when, and which were cleared again."""

from pathlib import Path

import numpy as np

from robustbo.errors import RobustBOError
from robustbo.loop.belief.incumbent import incumbents
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts import matplotlib_canvas, several_charts
from robustbo.report.charts.chart import Axis, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.marks import ORANGE, TICK, at_trials, beyond, by_fate, failure_ticks, old_band, shown
from robustbo.report.charts.one_outcome import risen
from robustbo.report.summary.failures import failures
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

NEEDED = "a picture needs matplotlib, which is not installed; install robustbo[report]"


def values(settings: Settings, history: History, fits: FitCache | None = None) -> Chart:
    """The values by trial and what has become of them, the best point so far, and ticks where one failed.

    The frame is around the values that are believed: a wrong one that is far from them is drawn at its edge.
    """
    judged = outliers(settings, history, fits)
    found = by_fate(history, judged)
    dots = at_trials(settings, history, found, judged)
    line = risen(incumbents(settings, history, fits), len(history))
    up = axis(settings.quantity.heading("measured value"), shown(found), line.y, margin=0.06)
    failed = failures(settings, history, fits)
    dots += failure_ticks(failed, [float(f.trial.number) for f in failed], up.low + TICK * (up.high - up.low))
    return Chart(
        f"{settings.surrogate}, {settings.goal}, {len(history)} trials",
        trials_axis(len(history)),
        up,
        [*old_band(history, up), line],
        dots,
        beyond(dots, up),
        about="values by trial; " + counts(dots),
    )


def counts(dots: list[Dots]) -> str:
    """How many marks there are of each kind, in words."""
    return "; ".join(f"{kind.label}: {len(kind.x)}" for kind in dots)


def diagnoses(history: History) -> Chart:
    """What each diagnosis called wrong: a trial's place across, the diagnosis's from top to bottom."""
    every = [d.trial for d in history.diagnoses]
    lines = [Line("", "#bbbbbb", np.array([-0.5, n - 0.5]), np.array([n, n]), width=0.7) for n in every]
    dots = []
    for is_void, color, label in ((False, ORANGE, ""), (True, "#bbbbbb", "void: all are used")):
        pairs = [(number, d.trial) for d in history.diagnoses if d.void == is_void for number in d.outliers]
        if pairs:
            x, y = np.array(pairs, dtype=float).T
            dots.append(Dots(label, color, "none", x, y, shape="s", size=2.5))
    up = axis("diagnosis before trial", np.array(every, dtype=float))
    down = Axis(up.label, up.high, up.low)
    return Chart("", trials_axis(len(history)), down, lines, dots, height=180)


def draw(settings: Settings, history: History, path: Path) -> None:
    """Draw a history: above, the values by trial; below, where there are diagnoses, what each called wrong.

    Of several outcomes: their front and its hypervolume by trial, and the values of each by trial.

    Args:
        settings: What the run was told at its beginning.
        history: What has happened in it.
        path: Of the picture; its suffix says the format.

    Raises:
        RobustBOError: If matplotlib is not installed or does not know the format, or nothing has been told.
    """
    if matplotlib_canvas.plt is None:
        raise RobustBOError(NEEDED)
    if path.suffix not in matplotlib_canvas.FORMATS:
        known = ", ".join(matplotlib_canvas.FORMATS)
        raise RobustBOError(f"the picture's name must end in one of {known}, got {path.name!r}")
    if not history.having("told"):
        raise RobustBOError("a timeline needs at least one told value, got none")
    if settings.outcomes:
        matplotlib_canvas.draw(several_charts.rows(settings, history), path)
        return
    matplotlib_canvas.draw([[values(settings, history)], *([[diagnoses(history)]] if history.diagnoses else [])], path)
