"""Residuals by source: how far each value is from the objective, in the order of telling, and the errors of sources."""

from collections.abc import Mapping, Sequence

import numpy as np

from robustbo.loop.sources.source_report import SourceReport
from robustbo.report.charts.chart import GRAY, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.palette import COLORS
from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.times import hours_of

SHAPES = ("o", "D", "s", "X")  # in turn, so that levels of one color differ
OTHER_LEVELS = "others"  # levels beyond those that have colors
NUM_LEVELS = 12  # that have looks of their own


def residual_chart(
    kind: str,
    trials: Sequence[Trial],
    residuals: Mapping[int, float],
    reports: Sequence[SourceReport],
    quantity: Outcome,
) -> Chart:
    """The residuals of one kind of source, a color a level, and a line along each error that is more probable than not.

    Args:
        kind: Of the source; empty for everything.
        trials: Those with a value that counts, in any order.
        residuals: By trial, how far its value is above the objective.
        reports: On the sources of one outcome; those of other kinds are passed over.
        quantity: What is measured.
    """
    in_order, of_telling = _in_order(trials)
    places = {trial.number: place for place, trial in enumerate(in_order)}
    own = [report for report in reports if report.source in (kind, "") and report.is_doubtful]
    levels = _levels(in_order, kind, own)
    dots = [
        _dots(label, look, [t for t in in_order if _label(t, kind, levels) == label], places, residuals)
        for label, look in levels.items()
    ]
    colors = {label: color for label, (color, _) in levels.items()}
    lines = [_zero(len(in_order)), *(_line(report, places, colors) for report in own)]
    values = np.array([residuals[trial.number] for trial in in_order])
    up = axis(f"{quantity.heading('value')} above the objective", values, *(line.y for line in lines), margin=0.06)
    about = "; ".join([f"residuals by {kind or 'time'}", *(report.text for report in own)])
    across = trials_axis(len(in_order), f"place in the order of {'telling' if of_telling else 'measuring'}")
    return Chart("", across, up, lines, [d for d in dots if len(d.x)], height=260, about=about)


def _in_order(trials: Sequence[Trial]) -> tuple[list[Trial], bool]:
    """The trials in the order of their times; and whether that is merely the order in which they were told."""
    hours = hours_of(trials)
    keys = [float(t.number if t.order is None else t.order) for t in trials] if hours is None else hours
    return [trial for _, _, trial in sorted(zip(keys, range(len(keys)), trials, strict=True))], hours is None


def _levels(trials: Sequence[Trial], kind: str, own: Sequence[SourceReport]) -> dict[str, tuple[str, str]]:
    """The look of each level, those in doubt first; the rest are together and gray."""
    counts: dict[str, int] = {}
    for trial in trials:
        if kind in trial.sources:
            counts[trial.sources[kind]] = counts.get(trial.sources[kind], 0) + 1
    doubtful = [report.level for report in own if report.level in counts]
    order = sorted(counts, key=lambda level: (level not in doubtful, -counts[level], level))[:NUM_LEVELS]
    names = sorted(order)  # a level keeps its color as long as no other comes
    colors = [color for color in COLORS if color != "#999999"]
    looks = {name: (colors[i % len(colors)], SHAPES[i // len(colors) % len(SHAPES)]) for i, name in enumerate(names)}
    return looks | {OTHER_LEVELS: ("#999999", "o")}


def _label(trial: Trial, kind: str, levels: Mapping[str, tuple[str, str]]) -> str:
    level = trial.sources.get(kind, OTHER_LEVELS)
    return level if level in levels else OTHER_LEVELS


def _dots(
    label: str,
    look: tuple[str, str],
    trials: Sequence[Trial],
    places: Mapping[int, int],
    residuals: Mapping[int, float],
) -> Dots:
    x = np.array([float(places[trial.number]) for trial in trials])
    y = np.array([residuals[trial.number] for trial in trials])
    titles = [f"{trial.title}: {residuals[trial.number]:+.3g}" for trial in trials]
    return Dots(label, look[0], "none", x, y, look[1], titles=titles)


def _zero(count: int) -> Line:
    return Line("", GRAY, np.array([0.0, count]), np.zeros(2), width=1.0)


def _line(report: SourceReport, places: Mapping[int, int], colors: Mapping[str, str]) -> Line:
    """The error of a source from where it begins to its last value: a step, a ramp, or a band to both sides."""
    count, own = len(places), sorted(places[number] for number in report.trials if number in places)
    start = float(places.get(report.since, 0)) if report.since is not None else 0.0
    end = float(own[-1]) + 1 if report.kind in ("drift", "broken") and own else float(count)
    x, label = np.array([start, start, end]), f"{report.name}: {report.kind or report.status}"
    color = colors.get(report.level or "", "#000000")
    if report.kind == "broken":
        ends = np.full(3, report.error)
        return Line(label, color, x, np.full(3, np.nan), -ends, ends)
    y = np.array([0.0, 0.0 if report.kind == "drift" else report.error, report.error])
    low, high = (np.array([np.nan, y[1] + sign * report.sd, y[2] + sign * report.sd]) for sign in (-1, 1))
    return Line(label, color, x, y, low, high, dash="6 3", width=2.0)
