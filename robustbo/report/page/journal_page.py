"""An optimization's journal as a page: the best recipe, what to do next, what looks wrong, slices, all trials."""

from datetime import datetime
from functools import partial
from html import escape
from typing import Any

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import by_first
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.report.charts import svg, timeline
from robustbo.report.charts.chart import Chart
from robustbo.report.page import (
    best_section,
    failures_section,
    next_section,
    outliers_section,
    pending_section,
    pool_section,
    several_page,
    slices_section,
    space_section,
    trials_section,
)
from robustbo.report.page.computed import computed
from robustbo.report.page.html import document, part, parts, table
from robustbo.report.summary import text_space as chosen_words
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_summary import how, how_far, verdict_row
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SOMEWHERE = "JOURNAL"  # in commands, where a page does not know the place
BEST = "The best so far is the incumbent among the points measured until then, as the surrogate believes them now."


def page(
    name: str,
    settings: Settings,
    history: History,
    fits: FitCache | None = None,
    *,
    version: str | None = None,
    place: str = SOMEWHERE,
    made: datetime | None = None,
) -> str:
    """The page.

    Args:
        name: Of the optimization, as its page calls it.
        settings: What it was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        version: Of the journal, where the page is served and shows itself anew when that changes.
        place: Of the journal, for commands.
        made: When the page is made, with a time zone; it says so where it is given, and else depends on nothing but
            the history.

    What cannot be computed is said in its place.
    """
    inner = body(settings, history, FitCache() if fits is None else fits, place=place, made=made)
    return document(name, inner, version, made)


def body(
    settings: Settings, history: History, fits: FitCache, *, place: str = SOMEWHERE, made: datetime | None = None
) -> str:
    """What the page says, below its title."""
    found = overview(settings, history, fits)
    judged = attempt(partial(outliers, settings, history, fits), settings.surrogate)[0] or []
    said = [f"{how(found)}; {how_far(found)}", *chosen_words.lines(found)]
    todo = next_section.section(place, found)
    if settings.outcomes:
        middle = several_page.sections(settings, history, fits, found, todo)
    else:
        middle = _of_one(settings, history, fits, found, judged, todo)
    table_of_all = trials_section.section(settings, history, judged, found)
    rest = [table_of_all, pending_section.section(found, made), space_section.section(settings, history)]
    return "".join(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in said) + parts([*middle, *rest])


def _of_one(
    settings: Settings, history: History, fits: FitCache, found: dict[str, Any], judged: list[Outlier], todo: str
) -> list[str]:
    failed = failures_section.section(settings, history, fits, found)
    if not history.having("told"):
        return [part(best_section.TITLE, "<p>Nothing has been told yet.</p>"), todo, failed]
    progress = computed(settings, lambda: _progress(timeline.values(settings, history, fits)))
    doubts = outliers_section.section(found, settings.quantities)
    if found["diagnoses"]:
        rows = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
        doubts += "<h3>Diagnoses on schedule</h3>" + table([*rows[0]], [[*row.values()] for row in rows])
    made = [
        best_section.section(settings, history, found),
        todo,
        progress,
        part(outliers_section.TITLE, doubts),
        failed,
    ]
    if settings.space.is_pool:
        return [*made, computed(settings, lambda: pool_section.section(settings, history, fits))]
    slices = computed(settings, lambda: _slices(settings, history, fits, found, judged))
    return [*made, part("The surrogate, through the incumbent", slices, is_wide=True)]


def _slices(settings: Settings, history: History, fits: FitCache, found: dict[str, Any], judged: list[Outlier]) -> str:
    """The surrogate through the incumbent: the first that can be fitted and predicts there."""
    values, space = slices_section.measured(judged), space_of(settings, history)

    def drawn(fitted: FittedSurrogate) -> str:
        surface = slices_section.Surface(fitted, settings.quantity, values=values)
        return slices_section.section(space, found["incumbent"]["params"], [surface])

    return by_first(settings, observations(settings, history), drawn, fits)


def _progress(chart: Chart) -> str:
    """The values by trial and what has become of them, and the best one so far of those that are believed."""
    edge = " Values beyond the frame are drawn at its edge, with their numbers." if chart.notes else ""
    return part("Progress", f"{svg.draw(chart)}{svg.legend(chart)}<p>{BEST}{edge}</p>")
