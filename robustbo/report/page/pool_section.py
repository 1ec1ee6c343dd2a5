"""A page's sections on a pool: what was measured against what the others predict, and the best rows that are left."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from robustbo.loop.belief.outcome_models import OutcomeModels
from robustbo.loop.belief.outliers import Outlier
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts.chart import Chart, Dots, Line, axis
from robustbo.report.charts.one_outcome import SingleOutcome
from robustbo.report.charts.palette import COLORS
from robustbo.report.page.table import Table
from robustbo.rounding import format_number
from robustbo.searchspace.region.factory import region_of
from robustbo.trials.identity import point_of
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.view.view import View

ORDER = "Rows that probably keep all bounds come first, those that the fewest rows beat in all objectives at the top."
NO_ROW_LEFT = "Every row that may be asked for has been measured, or is being measured."
BEST = 12  # rows that are listed
EDGE = " Points beyond the frame are drawn at its edge."
CHUNK = 500  # rows that are predicted at once: a prediction takes the square of them
Rank = Callable[[np.ndarray], np.ndarray]  # how good ``n`` rows are by their ``n x M`` predicted means


class Calibration(NamedTuple):
    """The values of an outcome against their predictions from all other values; with its label, if it is not alone."""

    label: str
    chart: Chart
    note: str


class RowsLeft(NamedTuple):
    """The rows that nobody has measured or is measuring, the best prediction first; the table is None where none is."""

    table: Table | None
    note: str
    order: str = ""


class PoolSection(NamedTuple):
    """The sections: a calibration an outcome, and the rows that are left."""

    calibrations: Sequence[Calibration]
    left: RowsLeft


class Column(NamedTuple):
    """A quantity that is predicted of each row, and its surrogate."""

    label: str
    quantity: Outcome
    fitted: FittedSurrogate


def pool_section(view: View, singles: Sequence[SingleOutcome]) -> PoolSection:
    """The sections, of a history with told values.

    Args:
        view: The optimization.
        singles: Its outcomes, each by itself, where it has several.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    if singles:
        outcomes = [single.outcome for single in singles]
        columns = [Column(single.outcome.quantity.label, single.outcome.quantity, single.fitted) for single in singles]
        left = _list_rows(view, columns, partial(_rank_several, outcomes))._replace(order=ORDER)
        return PoolSection(
            [_calibration(s.judged, s.outcome.quantity, s.outcome.quantity.label) for s in singles], left
        )
    settings, quantity = view.settings, view.settings.quantity

    def list_rows(models: OutcomeModels) -> RowsLeft:
        column = Column(quantity.heading("predicted value"), quantity, models[0].fitted)
        return _list_rows(view, [column], lambda means: settings.sign * means[:, 0])

    left = view.with_models(list_rows)
    return PoolSection([_calibration(view.outliers(), quantity, "")], left)


def _rank_several(outcomes: Sequence[OutcomeGoal], means: np.ndarray) -> np.ndarray:
    """Rank ``n x M`` predicted values: less by each row that beats them, and least where a bound is broken."""
    Y = np.stack([outcome.sign * means[:, m] for m, outcome in enumerate(outcomes) if outcome.is_objective], -1)
    low, high = np.array([outcome.bounds for outcome in outcomes]).T
    is_broken = ((means < low) | (means > high)).any(1)
    beaten = np.zeros(len(Y))
    for begin in range(0, len(Y), CHUNK):
        chunk = slice(begin, begin + CHUNK)
        beats = (Y[:, None] > Y[None, chunk]).all(-1) & ~(is_broken[:, None] & ~is_broken[None, chunk])
        beaten[chunk] = beats.sum(0)
    return -beaten - len(Y) * is_broken


def _calibration(judged: Sequence[Outlier], quantity: Outcome, label: str) -> Calibration:
    """Each value against what all the others predict there."""
    framed = [o for o in judged if not o.flagged] or judged
    ends = np.array([end for o in framed for end in (o.value, o.expected)])
    over = axis("predicted by the others", ends, margin=0.06)
    up = axis(quantity.heading("measured value"), ends, margin=0.06)
    diagonal = Line("", "#777777", np.array([over.low, over.high]), np.array([over.low, over.high]), dash="2 4")
    marks = []
    for kind, color, shape, is_flagged in (
        ("believed", COLORS[0], "o", False),
        ("called wrong", COLORS[1], "X", True),
    ):
        outliers = [o for o in judged if o.flagged == is_flagged]
        if outliers:
            x, y = np.array([(o.expected, o.value) for o in outliers]).T
            marks.append(Dots(kind, color, "none", x, y, shape=shape, titles=[f"{o}" for o in outliers]))
    chart = Chart("", over, up, [diagonal], marks, about="measured values against what the others predict")
    is_far = any(not (up.low <= o.value <= up.high and over.low <= o.expected <= over.high) for o in judged)
    note = f"A row of the pool is predicted from all other values: on the dotted line they agree.{EDGE * is_far}"
    return Calibration(label, chart, note)


def _list_rows(view: View, columns: Sequence[Column], rank: Rank) -> RowsLeft:
    history, space, region = view.of_target, view.space, region_of(view.space)
    occupied = {trial.point for trial in history if trial.is_open or trial.state == "told"}
    free = [point for point in region.all_points or [] if point_of(point) not in occupied]
    if not free:
        return RowsLeft(None, NO_ROW_LEFT)
    rows = [space.to_unit(point) for point in free]
    posteriors = [predict_rows(column.fitted, rows) for column in columns]
    ranks = rank(np.stack([mean for mean, _ in posteriors], -1))
    order = sorted(range(len(rows)), key=lambda k: -ranks[k])[:BEST]
    predict_feasibility = partial(view.chances, [rows[k] for k in order])
    p = (attempt(predict_feasibility)[0] or []) if history.having("failed") else []
    names = [name for column in columns for name in (column.label, "± 2 sd")]
    cells = [
        [*map(str, free[k].values()), *_cells(columns, posteriors, k), *([f"{p[place]:.2f}"] if p else [])]
        for place, k in enumerate(order)
    ]
    note = f"{len(free)} rows are left." if len(free) > BEST else "These are all that are left."
    return RowsLeft(Table([*space.names, *names, *(["probability of a value"] if p else [])], cells), note)


def _cells(columns: Sequence[Column], posteriors: Sequence[tuple[np.ndarray, np.ndarray]], k: int) -> list[str]:
    """The predicted means of row ``k``, within their possible ranges, and how far their bands reach."""
    pairs = zip(columns, posteriors, strict=True)
    ends = [(column.quantity.nearest(mean[k]), float(sd[k])) for column, (mean, sd) in pairs]
    return [text for mean, sd in ends for text in (format_number(mean, 6, sd), f"{2 * sd:.2g}")]


def predict_rows(fitted: FittedSurrogate, rows: Sequence[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations at unit-cube rows."""
    chunks = [fitted.predict(fitted.encoded(rows[begin : begin + CHUNK])) for begin in range(0, len(rows), CHUNK)]
    mean, sd = (np.concatenate([chunk[i] for chunk in chunks]) for i in (0, 1))
    return mean, sd
