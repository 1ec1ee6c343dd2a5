"""An optimization's timeline: each value, which were called wrong when, and which were cleared again."""

from pathlib import Path

import numpy as np

from robustbo.errors import RobustBOError
from robustbo.loop.cache import FitCache
from robustbo.loop.outliers import outliers
from robustbo.report import canvas
from robustbo.report.chart import FARTHEST, Axis, Chart, Dots, Line, axis
from robustbo.report.failures import failures, marks
from robustbo.report.palette import COLORS
from robustbo.trials.extent import space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

BLUE, ORANGE, GREEN = COLORS[:3]
LOOKS = {"believed": (BLUE, "o"), "called wrong": (ORANGE, "X"), "cleared again": (GREEN, "D")}
BREAKING = "break a constraint"
TICK = 0.025  # of the frame, where a failed trial's tick has its middle
REACH = 1.0  # ranges of the believed values, that a wrong one may be away and still be within the frame
NEEDED = "a picture needs matplotlib, which is not installed; install robustbo[report]"


def fates(settings: Settings, history: History, fits: FitCache | None = None) -> dict[str, list[Trial]]:
    """The told trials by what has become of their values: "believed", "called wrong" or "cleared again"."""
    now = {o.trial.number for o in outliers(settings, history, fits, is_weighed=False) if o.flagged}
    once = {number for d in history.diagnoses if not d.void for number in d.outliers}
    found: dict[str, list[Trial]] = {"believed": [], "called wrong": [], "cleared again": []}
    for trial in history.having("told"):
        fate = "called wrong" if trial.number in now else "cleared again" if trial.number in once else "believed"
        found[fate].append(trial)
    return found


def values(settings: Settings, history: History, fits: FitCache | None = None) -> Chart:
    """The values by trial and what has become of them, the best so far of those believed, and ticks where one failed.

    The frame is around the values that are believed: a wrong one that is far from them is drawn at its edge.
    """
    by_fate = fates(settings, history, fits)
    told = [trial for trials in by_fate.values() for trial in trials]
    believed = sorted(by_fate["believed"] + by_fate["cleared again"], key=lambda trial: trial.number)
    space = space_of(settings, history)
    breaking = [trial for trial in told if space.broken(trial.params)] if space.constraints else []
    kept = [trial for trial in believed if trial not in breaking]
    numbers, y = np.array([t.number for t in kept]), np.array([t.measured for t in kept])
    best = np.maximum.accumulate(y) if settings.sign > 0 else np.minimum.accumulate(y)
    repeats = [trial for trial in told if trial.repeats is not None]
    dots = [_dots(trials, fate, LOOKS[fate][0], "none", LOOKS[fate][1]) for fate, trials in by_fate.items()]
    dots += [_dots(repeats, "replicates", "none", "#555555", "o", 7.0)] if repeats else []
    dots += [_dots(breaking, BREAKING, "none", "#000000", "s", 7.0)] if breaking else []
    near = _near(np.array([t.measured for t in told]), np.array([t.measured for t in believed]))
    up = axis("measured value", near, margin=0.06)
    failed = failures(settings, history, fits)
    dots += marks(failed, [float(f.trial.number) for f in failed], up.low + TICK * (up.high - up.low))
    return Chart(
        f"{settings.surrogate}, {settings.direction}, {len(history)} trials",
        axis("trial", np.array([0.0, len(history)])),
        up,
        [Line("best believed so far", GREEN, numbers, best, dash="6 3", width=1.5)],
        dots,
        about="values by trial; " + counts(dots),
    )


def _near(told: np.ndarray, believed: np.ndarray) -> np.ndarray:
    """Those that would not crush the believed ones into a line; all if none is believed."""
    if len(believed) == 0:
        return told
    reach = REACH * np.ptp(believed.clip(-FARTHEST, FARTHEST))
    return told[(told >= believed.min() - reach) & (told <= believed.max() + reach)]


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
    return Chart("", axis("trial", np.array([0.0, len(history)])), down, lines, dots, height=180)


def draw(settings: Settings, history: History, path: Path) -> None:
    """Draw a history: above, the values by trial; below, where there are diagnoses, what each called wrong.

    Args:
        settings: What the run was told at its beginning.
        history: What has happened in it.
        path: Of the picture; its suffix says the format.

    Raises:
        RobustBOError: If matplotlib is not installed or does not know the format, or nothing has been told.
    """
    if canvas.plt is None:
        raise RobustBOError(NEEDED)
    if path.suffix not in canvas.FORMATS:
        known = ", ".join(canvas.FORMATS)
        raise RobustBOError(f"the picture's name must end in one of {known}, got {path.name!r}")
    if not history.having("told"):
        raise RobustBOError("a timeline needs at least one told value, got none")
    canvas.draw([[values(settings, history)], *([[diagnoses(history)]] if history.diagnoses else [])], path)


def _dots(trials: list[Trial], label: str, fill: str, stroke: str, shape: str, size: float = 4.0) -> Dots:
    x, y = np.array([float(t.number) for t in trials]), np.array([t.measured for t in trials])
    return Dots(label, fill, stroke, x, y, shape, size)
