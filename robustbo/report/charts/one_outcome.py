"""One of several outcomes by itself: its surrogate, its bounds, and its values by trial."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.belief.outcome_models import OutcomeModels
from robustbo.loop.best.incumbent import Incumbent
from robustbo.loop.best.measured_points import LIKELY, FrontPoint
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts.chart import GRAY, Axis, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.marks import (
    BEFORE,
    OUTSIDE,
    TICK,
    at_trials,
    by_fate,
    edge_notes,
    old_band,
    values_in_frame,
    within_reach,
)
from robustbo.report.charts.palette import COLORS
from robustbo.trials.history import History
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials
from robustbo.view.view import View

BLACK = "#000000"


class SingleOutcome(NamedTuple):
    """One of several outcomes by itself.

    Attributes:
        outcome: Its goal and its bounds.
        settings: Those of it alone.
        history: The trials with its values; those without one have failed.
        fitted: Its surrogate.
        judged: Its values, with whether they are believed.
    """

    outcome: OutcomeGoal
    settings: Settings
    history: History
    fitted: FittedSurrogate
    judged: Sequence[Outlier]


def single_outcomes(view: View) -> list[SingleOutcome]:
    """Each outcome by itself of which a value has been told.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    settings, history = view.settings, view.of_target
    if not history.having("told"):
        return []
    models: OutcomeModels = view.with_models(tuple)
    outliers, singles = view.outliers(), []
    for model in models:
        outcome, name = model.outcome, model.outcome.name
        alone = replace(history, trials=Trials(trial.of(name) for trial in history), diagnoses=())
        judged = [o for o in outliers if o.outcome == name]
        singles.append(SingleOutcome(outcome, settings.of(outcome), alone, model.fitted, judged))
    return singles


def values(single: SingleOutcome, points: Sequence[FrontPoint], best: Sequence[Incumbent] = ()) -> Chart:
    """The values of an outcome by trial and what has become of them, within its bounds.

    Args:
        single: The outcome.
        points: Those that are believed, to tell those that break a bound.
        best: Where it alone is to be optimized, the best points so far, which keep all bounds: they are drawn.
    """
    outcome, history = single.outcome, single.history
    outside = {point.trial.number for point in points if point.probability_feasible < LIKELY}
    fates = by_fate(history, single.judged)
    fates[OUTSIDE] = [trial for fate in ("believed", BEFORE) for trial in fates[fate] if trial.number in outside]
    for fate in ("believed", BEFORE):
        fates[fate] = [trial for trial in fates[fate] if trial.number not in outside]
    dots = at_trials(single.settings, history, fates, single.judged)
    framed, across = values_in_frame(fates), trials_axis(len(history))
    up = axis(outcome.quantity.label, framed, within_reach(bounds(outcome), framed), margin=0.06)
    missing = [float(trial.number) for trial in history.having("failed")]
    if missing:
        low = np.full(len(missing), up.low + TICK * (up.high - up.low))
        titles = [f"trial {number:.0f}: not measured" for number in missing]
        dots.append(Dots("not measured", "none", "#999999", np.array(missing), low, "|", 6.0, titles=titles))
    lines = old_band(history, up) + limits(outcome, across, up)
    if best:
        lines.append(best_so_far(best, len(history)))
    about = f"{outcome.name} by trial; " + "; ".join(f"{kind.label}: {len(kind.x)}" for kind in dots)
    return Chart("", across, up, lines, dots, edge_notes(dots, up), height=240, about=about)


def best_so_far(best: Sequence[Incumbent], num_trials: int) -> Line:
    """The best so far as a line: by trial the best of the points measured until then, by what is believed now."""
    numbers = np.array([*(incumbent.trial.number for incumbent in best), num_trials], dtype=float)
    means = np.array([incumbent.mean for incumbent in best])
    x, y = steps(numbers, np.append(means, means[-1:]))
    return Line("best so far", COLORS[2], x, y, dash="6 3", width=1.5)


def steps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve that keeps each value until the next place.

    Example:
        >>> [values.tolist() for values in steps(np.array([0, 2]), np.array([5, 7]))]
        [[0, 2, 2], [5, 5, 7]]
    """
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def bounds(outcome: OutcomeGoal) -> np.ndarray:
    """The finite bounds of an outcome."""
    ends = np.array(outcome.bounds)
    return ends[np.isfinite(ends)]


def limits(outcome: OutcomeGoal, across: Axis, up: Axis, *, is_upright: bool = False) -> list[Line]:
    """Gray over what breaks the bounds of the outcome that is drawn upwards (or across), and dashes along them."""
    lines, over = list[Line](), across if is_upright else up
    for bound, end, is_broken in zip(
        outcome.bounds, (over.low, over.high), (outcome.low > over.low, outcome.high < over.high), strict=True
    ):
        if not is_broken:
            continue
        ends, frame = np.sort([bound, end]), np.array([across.low, across.high])
        at, upright = np.full(2, bound), np.array([up.low, up.high])
        x, low, high = frame, np.full(2, ends[0]), np.full(2, ends[1])
        if is_upright:
            x, low, high = ends, np.full(2, up.low), np.full(2, up.high)
        lines.append(Line("beyond a bound", GRAY, x, np.full(2, np.nan), low, high))
        if over.low <= bound <= over.high:
            x, y = (at, upright) if is_upright else (frame, at)
            lines.append(Line("bound", BLACK, x, y, dash="6 3", width=1.0))
    return lines
