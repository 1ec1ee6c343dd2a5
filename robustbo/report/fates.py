"""What has become of told values, and the marks of it."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from robustbo.loop.cache import FitCache
from robustbo.loop.outliers import outliers
from robustbo.report.chart import FARTHEST, Axis, Dots, Note
from robustbo.report.palette import COLORS
from robustbo.trials.extent import space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

BLUE, ORANGE, GREEN = COLORS[:3]
PALE = "#a9cbe4"  # of the blue
OUTSIDE = "probably breaks a bound"
LOOKS = {"believed": (BLUE, "o"), "called wrong": (ORANGE, "X"), "cleared again": (GREEN, "D"), OUTSIDE: (PALE, "o")}
TICK = 0.025  # of the frame, where a tick has its middle that stands for no value
BREAKING = "break a constraint"
REACH = 1.0  # ranges of the believed values, that a wrong one may be away and still be within the frame


def fates(settings: Settings, history: History, fits: FitCache | None = None) -> dict[str, list[Trial]]:
    """The told trials by what has become of their values: "believed", "called wrong" or "cleared again"."""
    return by_fate(history, {o.trial.number for o in outliers(settings, history, fits) if o.flagged})


def by_fate(history: History, flagged: Collection[int]) -> dict[str, list[Trial]]:
    """The same by the trials whose values are called wrong now."""
    once = {number for d in history.diagnoses if not d.void for number in d.outliers}
    found: dict[str, list[Trial]] = {"believed": [], "called wrong": [], "cleared again": []}
    for trial in history.having("told"):
        fate = "called wrong" if trial.number in flagged else "cleared again" if trial.number in once else "believed"
        found[fate].append(trial)
    return found


def at_trials(
    settings: Settings, history: History, found: Mapping[str, Sequence[Trial]]
) -> tuple[list[Dots], list[Trial]]:
    """The marks of told values at their trials, and the trials that break a constraint of the space."""
    told, space = [trial for trials in found.values() for trial in trials], space_of(settings, history)
    breaking = [trial for trial in told if space.broken(trial.params)] if space.constraints else []
    repeats = [trial for trial in told if trial.repeats is not None]
    dots = [_dots(trials, fate, LOOKS[fate][0], "none", LOOKS[fate][1]) for fate, trials in found.items()]
    dots += [_dots(repeats, "replicates", "none", "#555555", "o", 7.0)] if repeats else []
    dots += [_dots(breaking, BREAKING, "none", "#000000", "s", 7.0)] if breaking else []
    return dots, breaking


def _dots(trials: Sequence[Trial], label: str, fill: str, stroke: str, shape: str, size: float = 4.0) -> Dots:
    """The values of some trials."""
    x, y = np.array([float(t.number) for t in trials]), np.array([t.measured for t in trials])
    return Dots(label, fill, stroke, x, y, shape, size)


def shown(found: Mapping[str, Sequence[Trial]]) -> np.ndarray:
    """The values that would not crush the believed ones into a line; all if none is believed."""
    told = np.array([t.measured for trials in found.values() for t in trials])
    believed = np.array([t.measured for fate, trials in found.items() if fate != "called wrong" for t in trials])
    return near(told, believed)


def near(told: np.ndarray, believed: np.ndarray) -> np.ndarray:
    """Those that are not farther from the believed ones than their range; all if none is believed."""
    if len(believed) == 0:
        return told
    reach = REACH * np.ptp(believed.clip(-FARTHEST, FARTHEST))
    return told[(told >= believed.min() - reach) & (told <= believed.max() + reach)]


def beyond(dots: Sequence[Dots], up: Axis) -> list[Note]:
    """The values that are drawn at the edge of the frame since they lie beyond it, as numbers there."""
    low, high = sorted((up.low, up.high))
    places = {(float(x), float(y)) for kind in dots for x, y in zip(kind.x, kind.y, strict=True)}
    return [Note(f"{y:.3g}", x, max(min(y, high), low)) for x, y in sorted(places) if not low <= y <= high]
