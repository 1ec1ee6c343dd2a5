"""An optimization's journal as a page: the best recipe, what to do next, what looks wrong, slices, all trials."""

from datetime import datetime
from html import escape
from typing import Any

from robustbo.loop.cache import FitCache
from robustbo.loop.fit import fit
from robustbo.loop.judge import Outlier
from robustbo.loop.outliers import outliers
from robustbo.report import (
    all_trials,
    chosen_section,
    next_section,
    pool_rows,
    recipe,
    several_page,
    suspects,
    svg,
    through,
    timeline,
    waiting,
    where_failed,
)
from robustbo.report.chart import Chart
from robustbo.report.html import document, part, parts, table
from robustbo.report.overview import overview
from robustbo.report.words import chosen as chosen_words
from robustbo.report.words.summary import how, how_far, verdict_row
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

    Raises:
        FitError: If the surrogate cannot be fitted.
    """
    inner = body(settings, history, FitCache() if fits is None else fits, place=place, made=made)
    return document(name, inner, version, made)


def body(
    settings: Settings, history: History, fits: FitCache, *, place: str = SOMEWHERE, made: datetime | None = None
) -> str:
    """What the page says, below its title."""
    found, judged = overview(settings, history, fits), outliers(settings, history, fits)
    said = [f"{how(found)}; {how_far(found)}", *chosen_words.lines(found)]
    todo = next_section.section(place, found)
    if settings.outcomes:
        middle = several_page.sections(settings, history, fits, found, todo)
    else:
        middle = _of_one(settings, history, fits, found, judged, todo)
    table_of_all = all_trials.section(settings, history, judged, found)
    rest = [table_of_all, waiting.section(found, made), chosen_section.section(settings, history)]
    return "".join(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in said) + parts([*middle, *rest])


def _of_one(
    settings: Settings, history: History, fits: FitCache, found: dict[str, Any], judged: list[Outlier], todo: str
) -> list[str]:
    failed = where_failed.section(settings, history, fits, found)
    if not judged:
        return [part(recipe.TITLE, "<p>Nothing has been told yet.</p>"), todo, failed]
    made = [recipe.section(settings, history, found), todo, _progress(timeline.values(settings, history, fits))]
    doubts = suspects.section(found["outliers"], settings.quantities)
    if found["diagnoses"]:
        rows = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
        doubts += "<h3>Diagnoses on schedule</h3>" + table([*rows[0]], [[*row.values()] for row in rows])
    made += [part(suspects.TITLE, doubts), failed]
    if settings.space.is_pool:
        return [*made, pool_rows.section(settings, history, fits)]
    surface = through.Surface(fit(settings, history, fits), settings.quantity, values=through.measured(judged))
    slices = through.section(space_of(settings, history), found["incumbent"]["params"], [surface])
    return [*made, part("The surrogate, through the incumbent", slices, is_wide=True)]


def _progress(chart: Chart) -> str:
    """The values by trial and what has become of them, and the best one so far of those that are believed."""
    edge = " Values beyond the frame are drawn at its edge, with their numbers." if chart.notes else ""
    return part("Progress", f"{svg.draw(chart)}{svg.legend(chart)}<p>{BEST}{edge}</p>")
