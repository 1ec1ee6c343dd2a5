"""Marks of told values by their fate, and of failed trials."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.feasibility.report import Failure
from robustbo.report.charts.chart import FARTHEST, GRAY, Axis, Dots, Line, Note
from robustbo.report.charts.palette import COLORS
from robustbo.report.summary.text_failures import LOOKS as FAILURE_LOOKS
from robustbo.report.summary.text_failures import NONE_GIVEN
from robustbo.trials.extent import space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.identity import in_a_line
from robustbo.trials.settings import Settings

BLUE, ORANGE, GREEN = COLORS[:3]
PALE = "#a9cbe4"  # of the blue
OUTSIDE = "probably breaks a bound"
BEFORE = "measured before the first ask"
LOOKS = {  # color, outline, shape
    "believed": (BLUE, "none", "o"),
    BEFORE: ("none", BLUE, "o"),
    "called wrong": (ORANGE, "none", "X"),
    "cleared again": (GREEN, "none", "D"),
    OUTSIDE: (PALE, "none", "o"),
}
TICK_COLORS = {"region": "#000000", "flake": "#999999", None: "#000000"}
TICK = 0.025  # of the frame, where a tick has its middle that stands for no value
BREAKING = "break a constraint"
REACH = 1.0  # ranges of the believed values, that a wrong one may be away and still be within the frame


def by_fate(history: History, judged: Sequence[Outlier]) -> dict[str, list[Trial]]:
    """The told trials by the fate of their values: "believed" (or `BEFORE`), "called wrong", "cleared again".

    Args:
        history: The trials.
        judged: Their values, with whether these are believed.
    """
    flagged = {o.trial.number for o in judged if o.flagged}
    once = {number for d in history.diagnoses if not d.void for number in d.outliers}
    count = count_before(history)
    fates = dict[str, list[Trial]]((fate, []) for fate in LOOKS if fate != OUTSIDE)
    for trial in history.having("told"):
        believed = BEFORE if trial.number < count else "believed"
        fate = "called wrong" if trial.number in flagged else "cleared again" if trial.number in once else believed
        fates[fate].append(trial)
    return fates


def count_before(history: History) -> int:
    """The number of trials that were told before anything was asked for; 0 where nothing has been since.

    These are old data: what `prior_data` had, or was told without having been asked.
    """
    count = sum(1 for _ in takewhile(lambda t: t.origin == "user" and not t.handouts and not t.is_open, history))
    return count if count < len(history) else 0


def old_band(history: History, up: Axis) -> list[Line]:
    """Gray over old data, which tells them from what was asked for."""
    count = count_before(history)
    x, low, high = np.array([-0.5, count - 0.5]), np.full(2, up.low), np.full(2, up.high)
    return [Line("", GRAY, x, np.full(2, np.nan), low, high)] if count else []


def at_trials(
    settings: Settings, history: History, fates: Mapping[str, Sequence[Trial]], judged: Sequence[Outlier]
) -> list[Dots]:
    """The marks of told values at their trials, each kind that is there."""
    told, space = [trial for trials in fates.values() for trial in trials], space_of(settings, history)
    breaking = [trial for trial in told if space.broken(trial.params)] if space.constraints else []
    replicates = [trial for trial in told if trial.repeats is not None]
    titles = {o.trial.number: f"{o}" for o in judged}
    dots = [_dots(trials, fate, LOOKS[fate], 4.0, titles) for fate, trials in fates.items()]
    dots.append(_dots(replicates, "replicates", ("none", "#555555", "o"), 7.0, titles))
    dots.append(_dots(breaking, BREAKING, ("none", "#000000", "s"), 7.0, titles))
    return [kind for kind in dots if len(kind.x)]


def _dots(
    trials: Sequence[Trial], label: str, look: tuple[str, str, str], size: float, titles: Mapping[int, str]
) -> Dots:
    """The values of trials as marks of one kind."""
    (fill, stroke, shape), y = look, np.array([t.measured for t in trials])
    x = np.array([float(t.number) for t in trials])
    return Dots(label, fill, stroke, x, y, shape, size, titles=[titles[t.number] for t in trials])


def values_in_frame(fates: Mapping[str, Sequence[Trial]]) -> np.ndarray:
    """The values that would not crush the believed ones into a line; all if none is believed."""
    told = np.array([t.measured for trials in fates.values() for t in trials])
    believed = np.array([t.measured for fate, trials in fates.items() if fate != "called wrong" for t in trials])
    return within_reach(told, believed)


def within_reach(values: np.ndarray, believed: np.ndarray) -> np.ndarray:
    """The values that are not farther from the believed ones than their range; all if none is believed."""
    if len(believed) == 0:
        return values
    reach = REACH * np.ptp(believed.clip(-FARTHEST, FARTHEST))
    return values[(values >= believed.min() - reach) & (values <= believed.max() + reach)]


def edge_notes(dots: Sequence[Dots], up: Axis) -> list[Note]:
    """The values that are drawn at the edge of the frame since they lie beyond it, as numbers there."""
    low, high = sorted((up.low, up.high))
    places = {(float(x), float(y)) for kind in dots for x, y in zip(kind.x, kind.y, strict=True)}
    return [Note(f"{y:.3g}", x, max(min(y, high), low)) for x, y in sorted(places) if not low <= y <= high]


def failure_ticks(failures: Sequence[Failure], x: Sequence[float], y: float) -> list[Dots]:
    """Ticks at the places of failed trials: black of those that look like their region, gray of flakes."""
    ticks = []
    for look, color in TICK_COLORS.items():
        placed = [(at, failure.trial) for failure, at in zip(failures, x, strict=True) if failure.looks_like == look]
        if placed:
            places, label = np.array([at for at, _ in placed]), f"failed, {FAILURE_LOOKS[look]}"
            titles = [f"{t.title}: {label}: {in_a_line(t.reason) or NONE_GIVEN}" for _, t in placed]
            height = np.full(len(places), y)
            ticks.append(Dots(label, "none", color, places, height, "|", 6.0, titles=titles))
    return ticks
