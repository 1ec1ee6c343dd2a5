"""A page's section on where trials fail: which did, what they look like, and how likely a value is elsewhere."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from robustbo.loop.feasibility.report import Failure
from robustbo.report.charts.chart import Axis, Chart
from robustbo.report.charts.marks import failure_ticks
from robustbo.report.charts.slices import GRAY_MEANS, Slice, across, curves, shades, slices, upright
from robustbo.report.page.attempts import Attempt
from robustbo.report.page.slices_section import Around
from robustbo.report.page.table import Table, Wrapped
from robustbo.report.summary.failures import failures_of
from robustbo.report.summary.text_failures import AGAIN, NONE_GIVEN, lead, verdict
from robustbo.report.summary.text_outcomes import place_of
from robustbo.report.summary.text_summary import SHOWN
from robustbo.trials.identity import in_a_line
from robustbo.view.view import View

LONGEST = 90  # letters of a reason
NOTHING = object()  # the value of a parameter that does not exist
UP = Axis("probability of a value", 0.0, 1.02)
HEADER = ("trial", "verdict", "log odds, nats", "asked again", "reason", "at")


class FeasibilitySlices(NamedTuple):
    """The probability of a value where one parameter moves and the others stay at a point.

    Attributes:
        where: The point in words.
        note: On what is gray; "" where nothing is.
        pieces: A chart, or of a parameter without an axis a table, each.
    """

    where: str
    note: str
    pieces: Sequence[Chart | Table]

    @property
    def charts(self) -> list[Chart]:
        """The charts among the pieces, for one legend."""
        return [piece for piece in self.pieces if isinstance(piece, Chart)]


class FailuresSection(NamedTuple):
    """The section.

    Attributes:
        lead: A sentence on how many have failed.
        table: The last of them, a row each.
        num_failed: The number of failed trials.
        slices: Where the optimization learns where trials fail, the attempt to say it of the space.
    """

    lead: str
    table: Table
    num_failed: int
    slices: Attempt | None


def failures_section(view: View, overview: dict[str, Any], around: Around | None) -> FailuresSection | None:
    """The section; None where no trial has failed.

    Args:
        view: The optimization.
        overview: Of it.
        around: The point that slices go through; None where there is none.
    """
    failed, through = overview["failed"], None
    if not failed:
        return None
    is_learned = overview["failures"]["flake_rate"] is not None
    if is_learned and around is not None and not view.settings.space.is_pool:  # no points between its rows
        through = Attempt.of(view, lambda: _slices(view, around))
    table = Table(HEADER, [_row(trial) for trial in failed[-SHOWN:]])
    return FailuresSection(lead(overview["failures"]), table, len(failed), through)


def _row(trial: dict[str, Any]) -> list[Any]:
    line, odds = in_a_line(trial["reason"]) or NONE_GIVEN, trial["log_odds_nats"]
    text = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    full_text = (trial["reason"] or "").strip()
    reason = Wrapped(text, 9, full_text if full_text != text else "")
    odds_text = "" if odds is None else f"{odds:.1f}"
    return [trial["trial"], verdict(trial), odds_text, AGAIN[trial["again"]], reason, place_of(trial["params"])]


def _slices(view: View, around: Around) -> FeasibilitySlices:
    params, where, _ = around
    space, failures = view.space, failures_of(view)
    pieces = list[Chart | Table]()
    for of in slices(space, params, where):
        if len(of.units):
            p = np.array(view.chances(list(of.rows)))
            pieces.append(_table(of, p, failures) if of.is_table else _chart(of, p, failures, where))
    return FeasibilitySlices(where, GRAY_MEANS if space.constraints else "", pieces)


def _table(of: Slice, p: np.ndarray, failures: Sequence[Failure]) -> Table:
    """The probability at each value of a parameter, and the number of trials that failed there."""
    counts = [sum(f.trial.params.get(of.name, NOTHING) == value for f in failures) for value in of.values]
    rows = zip(of.values, p, counts, strict=True)
    return Table([of.name, UP.label, "failed"], [[f"{value!r}", f"{chance:.2f}", n] for value, chance, n in rows])


def _chart(of: Slice, p: np.ndarray, failures: Sequence[Failure], where: str) -> Chart:
    """The probability along a parameter, and ticks where trials failed, wherever their other parameters were."""
    placed = [failure for failure in failures if of.name in failure.trial.params]
    ticks = failure_ticks(placed, [of.parameter.to_unit(failure.trial.params[of.name]) for failure in placed], 0.03)
    about = f"{of.name}: probability of a value through {where}"
    lines = [*shades(of, UP), *curves(of, p), upright(of.center, UP)]
    return Chart(about, across(of), UP, lines, ticks, height=200)
