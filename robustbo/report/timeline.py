"""An optimization's timeline as a picture: each value, which were called wrong when, and which were cleared again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robustbo.errors import RobustBOError
from robustbo.loop.cache import FitCache
from robustbo.loop.outliers import outliers
from robustbo.report.canvas import finish, plt
from robustbo.report.palette import COLORS
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

(BLUE, RED, GREEN), GRAY = COLORS[:3], "#bbbbbb"
FARTHEST = 1e6  # median deviations from the median: a value beyond is drawn there
FORMATS = (".png", ".pdf", ".svg")
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


def draw(settings: Settings, history: History, path: Path) -> None:
    """Draw a history: above, the values by trial; below, where there are diagnoses, what each called wrong.

    Args:
        settings: What the run was told at its beginning.
        history: What has happened in it.
        path: Of the picture; its suffix says the format.

    Raises:
        RobustBOError: If matplotlib is not installed or does not know the format, or nothing has been told.
    """
    if plt is None:
        raise RobustBOError(NEEDED)
    if path.suffix not in FORMATS:
        raise RobustBOError(f"the picture's name must end in one of {', '.join(FORMATS)}, got {path.name!r}")
    by_fate = fates(settings, history)
    if not any(by_fate.values()):
        raise RobustBOError("a timeline needs at least one told value, got none")
    has_diagnoses = bool(history.diagnoses)
    figure, panels = plt.subplots(
        1 + has_diagnoses,
        figsize=(8.4, 5.4 if has_diagnoses else 3.6),
        layout="constrained",
        sharex=True,
        squeeze=False,
        gridspec_kw={"height_ratios": [3, 2][: 1 + has_diagnoses]},
    )
    _draw_values(panels[0, 0], by_fate)
    panels[0, 0].set_title(f"{settings.surrogate}, {settings.direction}, {len(history)} trials")
    if has_diagnoses:
        _draw_diagnoses(panels[1, 0], history)
    panels[-1, 0].set_xlabel("trial")
    for axes in panels[:, 0]:
        axes.spines[["top", "right"]].set_visible(False)
    finish(figure, path)


def _draw_values(axes, by_fate: dict[str, list[Trial]]) -> None:  # type: ignore[no-untyped-def]
    every = [t.measured for trials in by_fate.values() for t in trials]
    center = float(np.median(every))
    farthest = FARTHEST * (float(np.median([abs(value - center) for value in every])) or 1.0)
    for (fate, trials), color, marker in zip(by_fate.items(), (BLUE, RED, GREEN), "oXD", strict=True):
        shown = [min(max(t.measured, center - farthest), center + farthest) for t in trials]
        axes.scatter([t.number for t in trials], shown, s=26, c=color, marker=marker, label=fate)
    repeats = [t for trials in by_fate.values() for t in trials if t.repeats is not None]
    if repeats:
        places = ([t.number for t in repeats], [t.measured for t in repeats])
        axes.scatter(*places, s=90, facecolors="none", edgecolors="#555555", label="measured again")
    axes.set_ylabel("measured value")
    values = [t.measured for t in by_fate["believed"] + by_fate["cleared again"]]
    if by_fate["called wrong"] and len(values) > 1 and _is_far(values, by_fate["called wrong"]):
        axes.set_yscale("symlog", linthresh=float(np.std(values)) or 1.0)


def _is_far(values: Sequence[float], wrong: Sequence[Trial]) -> bool:
    """Whether the wrong values would crush the others into a line."""
    center, spread = float(np.median(values)), float(np.ptp(values)) or 1.0
    return max(abs(t.measured - center) for t in wrong) > 5 * spread


def _draw_diagnoses(axes, history: History) -> None:  # type: ignore[no-untyped-def]
    for d in history.diagnoses:
        axes.plot([-0.5, d.trial - 0.5], [d.trial, d.trial], color=GRAY, linewidth=0.6, zorder=0)
    for is_void, color, label in ((False, RED, "called wrong"), (True, GRAY, "void: all are used")):
        pairs = [(number, d.trial) for d in history.diagnoses if d.void == is_void for number in d.outliers]
        if pairs:
            axes.scatter(*zip(*pairs, strict=True), s=12, c=color, marker="s", label=label if is_void else None)
    axes.set_ylabel("diagnosis before trial")
    axes.invert_yaxis()
