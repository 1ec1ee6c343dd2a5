"""A page's section on where trials fail: which did, what they look like, and how likely a value is elsewhere."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from robustbo.loop.feasibility.report import chances
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts import svg
from robustbo.report.charts.chart import Axis, Chart
from robustbo.report.charts.marks import failure_ticks
from robustbo.report.charts.slices import GRAY_MEANS, INCUMBENT, across, curves, shades, slices, upright
from robustbo.report.page.computed import computed
from robustbo.report.page.html import part, side_by_side, table
from robustbo.report.summary.failures import failures
from robustbo.report.summary.text_failures import AGAIN, NONE_GIVEN, lead, verdict
from robustbo.report.summary.text_outcomes import place_of
from robustbo.report.summary.text_summary import SHOWN
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.trial import in_a_line

LONGEST = 90  # letters of a reason
NOTHING = object()  # the value of a parameter that does not exist
WRAPPED = "white-space:normal;min-width:9rem"
UP = Axis("probability of a value", 0.0, 1.02)
NOTE = (
    "Log odds: of a flake, which strikes anywhere, against the point's own doing; 3 nats are 20 to 1, "
    "below 0 the point is likelier."
)


def section(settings: Settings, history: History, fits: FitCache, found: dict[str, Any], where: str = INCUMBENT) -> str:
    """The section; nothing where none has failed.

    Args:
        settings: What the optimization was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        found: Its overview.
        where: What its incumbent is called.
    """
    if not found["failed"]:
        return ""
    parts = [f"<p>{escape(lead(found['failures']))}.</p>", _table(found["failed"])]
    is_learned = found["failures"]["flake_rate"] is not None
    if is_learned and found["incumbent"] is not None and not settings.space.is_pool:  # no points between its rows
        best = found["incumbent"]
        parts.append(computed(settings, lambda: _slices(settings, history, fits, best["params"], where)))
    return part("Where trials fail", "".join(parts), is_wide=True)


def _table(trials: Sequence[dict[str, Any]]) -> str:
    lines = []
    for trial in trials[-SHOWN:]:
        odds, reason = trial["log_odds_nats"], in_a_line(trial["reason"]) or NONE_GIVEN
        short = reason if len(reason) <= LONGEST else f"{reason[: LONGEST - 1]}…"
        said = "" if odds is None else f"{odds:.1f}"
        why = f'<div style="{WRAPPED}">{escape(short)}{_whole(trial["reason"], short)}</div>'
        judged = [trial["trial"], verdict(trial), said, AGAIN[trial["again"]]]
        lines.append([*judged, why, escape(place_of(trial["params"]))])
    more = f"<p>The last {SHOWN} of {len(trials)}.</p>" if len(trials) > SHOWN else ""
    header = ["trial", "verdict", "log odds, nats", "asked again", "reason", "at"]
    return more + table(header, lines, is_safe=True) + f"<p>{NOTE}</p>"


def _whole(reason: str | None, short: str) -> str:
    """A reason of several lines, or a long one, as text that can be opened."""
    whole = (reason or "").strip()
    return (
        f"<details><summary>all of it</summary><pre>{escape(whole)}</pre></details>" if whole not in ("", short) else ""
    )


def _slices(settings: Settings, history: History, fits: FitCache, params: dict[str, Any], where: str) -> str:
    """The probability of a value where one parameter moves and the others stay at a point, the incumbent as a rule."""
    space, found = space_of(settings, history), failures(settings, history, fits)
    gray = f" {GRAY_MEANS}" if space.constraints else ""
    charts, parts = list[Chart](), list[str]()
    for each in (each for each in slices(space, params, where) if len(each.units)):
        p, name = np.array(chances(settings, history, list(each.rows), fits)), each.name
        if each.is_table:
            count = [
                sum(failure.trial.params.get(name, NOTHING) == value for failure in found) for value in each.values
            ]
            rows = zip(each.values, p, count, strict=True)
            parts.append(table([name, UP.label, "failed"], [[f"{v!r}", f"{chance:.2f}", n] for v, chance, n in rows]))
            continue
        there = [failure for failure in found if name in failure.trial.params]
        ticks = failure_ticks(there, [each.parameter.to_unit(failure.trial.params[name]) for failure in there], 0.03)
        about = f"{name}: probability of a value through {where}"
        lines = [*shades(each, UP), *curves(each, p), upright(each.here, UP)]
        charts.append(Chart(about, across(each), UP, lines, ticks, height=200))
        parts.append(svg.draw(charts[-1]))
    return (
        f"<h3>Probability of a value, through {where}</h3><p>As one parameter moves; upright: {where}. Ticks are "
        f"failed trials, wherever their other parameters were.{gray}</p>{svg.legend(*charts)}{side_by_side(parts)}"
    )
