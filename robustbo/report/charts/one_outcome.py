"""One of several outcomes by itself: what it alone sees, its bounds, and its values by trial."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robustbo.errors import FitError
from robustbo.loop.belief.incumbent import Incumbent
from robustbo.loop.belief.judge import Outlier
from robustbo.loop.belief.measured_points import LIKELY, FrontPoint
from robustbo.loop.belief.outcome_models import climb_each
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts.chart import GRAY, Axis, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.marks import BEFORE, OUTSIDE, TICK, at_trials, beyond, by_fate, near, old_band, shown
from robustbo.report.charts.palette import COLORS
from robustbo.trials.history import History
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials

BLACK = "#000000"


class Seen(NamedTuple):
    """What one of several outcomes alone sees.

    Attributes:
        wanted: The outcome.
        settings: Those of it alone.
        history: The trials as it sees them: where it is missing they have failed.
        fitted: Its surrogate.
        judged: Its values, with whether they are believed.
    """

    wanted: Wanted
    settings: Settings
    history: History
    fitted: FittedSurrogate
    judged: Sequence[Outlier]


def seen(settings: Settings, history: History, fits: FitCache) -> list[Seen]:
    """What each outcome sees of which a value has been told.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    data = observations(settings, history)
    if not data.told:
        return []
    several, why = climb_each(settings, data, tuple, fits, is_judging=True)
    if several is None:
        raise FitError(f"no surrogates could be fitted {why}")
    report, made = outliers(settings, history, fits), []
    for each in several:
        name = each.wanted.name
        alone = replace(history, trials=Trials(trial.of(name) for trial in history), diagnoses=())
        judged = [o for o in report if o.outcome == name]
        made.append(Seen(each.wanted, settings.of(each.wanted), alone, each.fitted, judged))
    return made


def values(of: Seen, points: Sequence[FrontPoint], best: Sequence[Incumbent] = ()) -> Chart:
    """The values of an outcome by trial and what has become of them, within its bounds.

    Args:
        of: What the outcome sees.
        points: Those that are believed, to tell those that break a bound.
        best: Where it alone is to be optimized, the best points so far, which keep all bounds: they are drawn.
    """
    outside = {point.trial.number for point in points if point.probability_feasible < LIKELY}
    found = by_fate(of.history, of.judged)
    found[OUTSIDE] = [trial for fate in ("believed", BEFORE) for trial in found[fate] if trial.number in outside]
    for fate in ("believed", BEFORE):
        found[fate] = [trial for trial in found[fate] if trial.number not in outside]
    dots = at_trials(of.settings, of.history, found, of.judged)
    kept, across = shown(found), trials_axis(len(of.history))
    up = axis(of.wanted.quantity.label, kept, near(bounds(of.wanted), kept), margin=0.06)
    missing = [float(trial.number) for trial in of.history.having("failed")]
    if missing:
        low = np.full(len(missing), up.low + TICK * (up.high - up.low))
        titles = [f"trial {number:.0f}: not measured" for number in missing]
        dots.append(Dots("not measured", "none", "#999999", np.array(missing), low, "|", 6.0, titles=titles))
    lines = old_band(of.history, up) + limits(of.wanted, across, up)
    if best:
        lines.append(risen(best, len(of.history)))
    notes = beyond(dots, up)
    about = f"{of.wanted.name} by trial; " + "; ".join(f"{kind.label}: {len(kind.x)}" for kind in dots)
    return Chart("", across, up, lines, dots, notes, height=240, about=about)


def risen(best: Sequence[Incumbent], num_trials: int) -> Line:
    """The best so far as a line: by trial the best of the points measured until then, by what is believed now."""
    numbers = np.array([*(each.trial.number for each in best), num_trials], dtype=float)
    means = np.array([each.mean for each in best])
    x, y = steps(numbers, np.append(means, means[-1:]))
    return Line("best so far", COLORS[2], x, y, dash="6 3", width=1.5)


def steps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve that keeps each value until the next place.

    Example:
        >>> [values.tolist() for values in steps(np.array([0, 2]), np.array([5, 7]))]
        [[0, 2, 2], [5, 5, 7]]
    """
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def bounds(wanted: Wanted) -> np.ndarray:
    """The bounds that an outcome has."""
    found = np.array(wanted.bounds)
    return found[np.isfinite(found)]


def limits(wanted: Wanted, across: Axis, up: Axis, *, is_upright: bool = False) -> list[Line]:
    """Gray over what breaks the bounds of the outcome that is drawn upwards (or across), and dashes along them."""
    lines, over = list[Line](), across if is_upright else up
    for bound, end, is_broken in zip(
        wanted.bounds, (over.low, over.high), (wanted.low > over.low, wanted.high < over.high), strict=True
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
