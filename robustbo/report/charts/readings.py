"""A source beside the target along a slice: what it reads beside the objective, and its error."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.loop.sources.readings import Readings, readings
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.linalg.lapack import Array
from robustbo.report.charts.chart import GRAY, Axis, Chart, Dots, Line, axis
from robustbo.report.charts.palette import COLORS
from robustbo.report.charts.slices import Slice, across, slices, upright
from robustbo.searchspace.space import Space
from robustbo.trials.outcome import Outcome
from robustbo.trials.trial import Trial

NEAR = 0.1  # of each range, that the other parameters of a value near a slice may be away
DOUBTFUL = 0.5  # of how much the objective varies: an error that is known no better leaves a reading without use
LOW = 190.0  # height of the picture of an error
OBJECTIVE, READS = COLORS[0], COLORS[1]


class SourceCharts(NamedTuple):
    """The pictures of a source along the parameter by which it and the objective vary most.

    Attributes:
        name: Of the parameter.
        readings: The objective and what the source reads.
        error: What it reads less the objective.
        share: Share of the slice along which the error is known well enough for the source to be of use.
    """

    name: str
    readings: Chart
    error: Chart
    share: float


class _Along(NamedTuple):
    """A slice, with the objective and a source along it."""

    of: Slice
    mean: Array
    sd: Array
    source: Readings


def source_charts(
    space: Space,
    fitted: FittedSurrogate,
    name: str,
    params: Mapping[str, Any],
    trials: Sequence[Trial],
    target: str,
    quantity: Outcome,
) -> SourceCharts | None:
    """The pictures of a source; None where it says nothing of the target, or no parameter is a number.

    Args:
        space: The search space.
        fitted: The surrogate that has learned from it.
        name: The source.
        params: The point that the slice goes through.
        trials: All that were told, of the target and of others.
        target: The name of the target.
        quantity: What is measured.
    """
    curves = [of for of in slices(space, params) if len(of.units) and not of.is_table]
    along = [_Along(of, *_objective(fitted, of), own) for of in curves if (own := readings(fitted, name, of.rows))]
    if not along:
        return None
    widest = max(along, key=lambda a: float(np.ptp(a.mean) + np.ptp(a.source.error)))
    near = [trial for trial in trials if _is_near(space, trial, params, widest.of.name)]
    is_known = widest.source.error_sd <= DOUBTFUL * widest.source.spread
    first = _readings_chart(space, widest, name, near, target, quantity)
    return SourceCharts(widest.of.name, first, _error_chart(widest, name, is_known, quantity), float(is_known.mean()))


def _objective(fitted: FittedSurrogate, of: Slice) -> tuple[Array, Array]:
    mean, sd = fitted.predict(fitted.encoded(of.rows))
    return np.array(mean), np.array(sd)


def _is_near(space: Space, trial: Trial, params: Mapping[str, Any], moving: str) -> bool:
    """Return whether the other parameters of a value are near those of a point."""
    at, own = space.to_unit(params), space.to_unit(trial.params)
    triples = zip(space.names, at, own, strict=True)
    return moving in trial.params and all(abs(a - b) <= NEAR for name, a, b in triples if name != moving)


def _readings_chart(
    space: Space, along: _Along, name: str, near: Sequence[Trial], target: str, quantity: Outcome
) -> Chart:
    of, mean, sd, own = along
    lines = [
        Line(f"{target}: the objective", OBJECTIVE, of.units, mean, mean - 2 * sd, mean + 2 * sd),
        Line(f"{name}: what it reads", READS, of.units, own.mean, own.mean - 2 * own.sd, own.mean + 2 * own.sd, "8 4"),
    ]
    dots = [
        _values(space, of.name, [t for t in near if t.source in (None, target)], OBJECTIVE, "o"),
        _values(space, of.name, [t for t in near if t.source == name], READS, "D"),
    ]
    ends = [line for of_line in lines for line in (of_line.low, of_line.high)]
    up = axis(quantity.heading("value"), *ends, *(d.y for d in dots))
    about = f"{name} beside {target} by {of.name}"
    return Chart("", across(of), up, [*lines, upright(of.center, up)], [d for d in dots if len(d.x)], about=about)


def _values(space: Space, name: str, trials: Sequence[Trial], color: str, shape: str) -> Dots:
    i = space.names.index(name)
    x = np.array([space.to_unit(trial.params)[i] for trial in trials])
    titles = [f"{trial.title}: {trial.measured:g}" for trial in trials]
    return Dots("", "none", color, x, np.array([trial.measured for trial in trials]), shape, titles=titles)


def _error_chart(along: _Along, name: str, is_known: np.ndarray, quantity: Outcome) -> Chart:
    of, own = along.of, along.source
    low, high = own.error - 2 * own.error_sd, own.error + 2 * own.error_sd
    up = axis(f"error{f', {quantity.unit}' if quantity.unit else ''}", low, high, np.zeros(1))
    zero = Line("", GRAY, np.array([0.0, 1.0]), np.zeros(2), width=1.0)
    error = Line(f"{name} less the objective", READS, of.units, own.error, low, high)
    lines = [*_shades(of, is_known, up), zero, error]
    return Chart("", across(of), up, lines, height=LOW, about=f"the error of {name} by {of.name}")


def _shades(of: Slice, is_known: np.ndarray, up: Axis) -> list[Line]:
    """Gray over where the source is of no use."""
    edges = np.array([of.units[0], *(of.units[1:] + of.units[:-1]) / 2, of.units[-1]])
    nothing, low, high = np.full(2, np.nan), np.full(2, up.low), np.full(2, up.high)
    places = np.flatnonzero(~is_known)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
    return [Line("", GRAY, edges[[run[0], run[-1] + 1]], nothing, low, high) for run in runs]
