"""A page's sections on a pool: what was measured against what the others predict, and the best rows that are left."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

import numpy as np

from robustbo.loop.belief.outliers import Outlier, outliers
from robustbo.loop.feasibility.report import chances
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import by_first
from robustbo.loop.surrogate.fitted_model import Fitted
from robustbo.report.charts import svg
from robustbo.report.charts.chart import Chart, Dots, Line, axis
from robustbo.report.charts.one_outcome import Seen
from robustbo.report.charts.palette import COLORS
from robustbo.report.page.html import part, side_by_side, table
from robustbo.rounding import rounded
from robustbo.searchspace.region.factory import region_of
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings
from robustbo.trials.trial import point_of

MEASURED, LEFT = "Measured against predicted", "The best rows not yet measured"
ORDER = "Those that are predicted to keep all bounds first; of them, what the fewest beat in all objectives."
BEST = 12  # rows that are listed
EDGE = " What is beyond the frame is drawn at its edge."
CHUNK = 500  # rows that are predicted at once: a prediction takes the square of them


def section(settings: Settings, history: History, fits: FitCache) -> str:
    """The sections, of a history with told values.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    label = settings.quantity.heading("predicted value")

    def left(fitted: Fitted) -> str:
        named, quantities = {label: fitted}, {label: settings.quantity}
        return _left(settings, history, fits, named, quantities, lambda means: settings.sign * means[:, 0])

    shown = _calibration(outliers(settings, history, fits), settings.quantity)
    return part(MEASURED, shown) + part(LEFT, by_first(settings, observations(settings, history), left, fits))


def of_several(settings: Settings, history: History, fits: FitCache, seen: Sequence[Seen]) -> str:
    """The same of several outcomes, of each of which a value has been told."""
    labels = {of.wanted.quantity.label: of for of in seen}
    shown = [f"<h3>{escape(label)}</h3>{_calibration(of.judged, of.wanted.quantity)}" for label, of in labels.items()]
    fitted = {label: of.fitted for label, of in labels.items()}
    quantities = {label: of.wanted.quantity for label, of in labels.items()}
    left = _left(settings, history, fits, fitted, quantities, partial(_worth, [of.wanted for of in seen]))
    return part(MEASURED, side_by_side(shown), is_wide=True) + part(LEFT, f"<p>{ORDER}</p>{left}", is_wide=True)


def _worth(outcomes: Sequence[Wanted], means: np.ndarray) -> np.ndarray:
    """How good ``n x M`` predicted values are: less by each row that beats them, and least where a bound is broken."""
    Y = np.stack([wanted.sign * means[:, m] for m, wanted in enumerate(outcomes) if wanted.is_objective], -1)
    low, high = np.array([wanted.bounds for wanted in outcomes]).T
    is_broken = ((means < low) | (means > high)).any(1)
    beaten = np.zeros(len(Y))
    for begin in range(0, len(Y), CHUNK):
        some = slice(begin, begin + CHUNK)
        beats = (Y[:, None] > Y[None, some]).all(-1) & ~(is_broken[:, None] & ~is_broken[None, some])
        beaten[some] = beats.sum(0)
    return -beaten - len(Y) * is_broken


def _calibration(found: Sequence[Outlier], quantity: Outcome) -> str:
    """Each value against what all the others predict there."""
    believed = [o for o in found if not o.flagged]
    shown = believed or found
    ends = np.array([e for o in shown for e in (o.value, o.expected)])
    over = axis("predicted by the others", ends, margin=0.06)
    up = axis(quantity.heading("measured value"), ends, margin=0.06)
    diagonal = Line("", "#777777", np.array([over.low, over.high]), np.array([over.low, over.high]), dash="2 4")
    marks = []
    for label, color, shape, is_flagged in (
        ("believed", COLORS[0], "o", False),
        ("called wrong", COLORS[1], "X", True),
    ):
        these = [o for o in found if o.flagged == is_flagged]
        if these:
            x, y = np.array([(o.expected, o.value) for o in these]).T
            marks.append(Dots(label, color, "none", x, y, shape=shape, titles=[f"{o}" for o in these]))
    chart = Chart("", over, up, [diagonal], marks, about="measured values against what the others predict")
    is_far = any(not (up.low <= o.value <= up.high and over.low <= o.expected <= over.high) for o in found)
    text = f"<p>A row of the pool is predicted from all other values: on the dotted line they agree.{EDGE * is_far}</p>"
    return svg.draw(chart) + svg.legend(chart) + text


def _left(
    settings: Settings,
    history: History,
    fits: FitCache,
    fitted: Mapping[str, Fitted],
    quantities: Mapping[str, Outcome],
    worth: Callable[[np.ndarray], np.ndarray],
) -> str:
    """The rows that nobody has measured or is measuring, the best prediction first.

    Args:
        settings: What the optimization was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        fitted: By what a value is called, the surrogate of it.
        quantities: By the same what it is of: means are shown within its possible range.
        worth: How good ``n`` rows are by their ``n x M`` predicted values.
    """
    space, region = space_of(settings, history), region_of(space_of(settings, history))
    taken = {trial.point for trial in history if trial.is_open or trial.state == "told"}
    free = [point for point in region.all_points or [] if point_of(point) not in taken]
    if not free:
        return "<p>Every row that may be asked for has been measured, or is being measured.</p>"
    rows = [space.to_unit(point) for point in free]
    said = {name: _predicted(each, rows) for name, each in fitted.items()}
    good = worth(np.stack([mean for mean, _ in said.values()], -1))
    order = sorted(range(len(rows)), key=lambda k: -good[k])[:BEST]
    look = partial(chances, settings, history, [rows[k] for k in order], fits)
    p = (attempt(look)[0] or []) if history.having("failed") else []
    columns = [column for name in said for column in (name, "± 2 sd")]
    header = [*space.names, *columns, *(["probability of a value"] if p else [])]
    lines = [
        [*(str(value) for value in free[k].values())]
        + [
            text
            for name, (mean, sd) in said.items()
            for text in (rounded(quantities[name].nearest(mean[k])), f"{2 * sd[k]:.2g}")
        ]
        + ([f"{p[place]:.2f}"] if p else [])
        for place, k in enumerate(order)
    ]
    count = f"{len(free)} rows are left" if len(free) > BEST else "These are all that are left"
    return table(header, lines) + f"<p>{escape(count)}.</p>"


def _predicted(fitted: Fitted, rows: Sequence[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations."""
    parts = [fitted.predict(fitted.encoded(rows[begin : begin + CHUNK])) for begin in range(0, len(rows), CHUNK)]
    mean, sd = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return mean, sd
