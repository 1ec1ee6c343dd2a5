"""The page of several outcomes: their front (or the best under constraints), what looks wrong, and each by itself."""

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

from robustbo.loop.belief.front import best
from robustbo.loop.belief.measured_points import FrontPoint
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts import fronts, several_charts, svg
from robustbo.report.charts.several_charts import Known
from robustbo.report.page import best_section, failures_section, outliers_section, pool_section, slices_section
from robustbo.report.page.computed import computed
from robustbo.report.page.html import part, side_by_side, table
from robustbo.report.summary import outcomes
from robustbo.report.summary import text_outcomes as outcome_words
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

FRONT = (
    "Bars: a posterior standard deviation to each side. On the front is what no other point measured beats; the line "
    "is around {}. What is beyond the frame is drawn at its edge."
)
WIDE = "min-width:8rem"
SHORT = 4  # digits of a number in a table of many columns
TITLE = "The best recipes"
STEPS = "what none beats in these two objectives"
PROGRESS = (
    "What the points measured up to each trial dominate beyond the reference point, by what is believed now: values "
    "that are called wrong never counted."
)
MIDDLE = "A fair compromise is trial {}, which by itself dominates the most."
CHOSEN = "<p>Of the front it is the point that by itself dominates the most.</p>"
LIKELIEST = "<p>It is the point that most probably keeps all bounds.</p>"
BEYOND = "Values beyond the frame are drawn at its edge, with their numbers."
BEST = "The best so far is the incumbent among the points measured until then, by what is believed now."


def sections(settings: Settings, history: History, fits: FitCache, found: dict[str, Any], todo: str) -> list[str]:
    """The parts of the page.

    Args:
        settings: What the study was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        found: Its overview.
        todo: The part on what to do next.
    """
    known, unknown = attempt(partial(several_charts.known, settings, history, fits), settings.surrogate)
    if known is None:
        first = part(TITLE, f"<p>What is believed could not be computed: {escape(unknown or '')}.</p>")
        return [first, todo, failures_section.section(settings, history, fits, found)]
    if missing := outcomes.without_value(settings, history):
        what = f"No value of {' and of '.join(missing)}" if known.seen else "Nothing"
        first = part(TITLE, f"<p>{escape(what)} has been told yet.</p>")
        failed = failures_section.section(settings, history, fits, found)
        return [first, todo, *_suspects(known, found), *_each(known), failed]
    return _of_all(settings, history, fits, found, known, todo)


def _of_all(
    settings: Settings, history: History, fits: FitCache, found: dict[str, Any], known: Known, todo: str
) -> list[str]:
    """The parts where something is known of each outcome."""
    params, where, why = _here(known, history, fits)
    if known.front is None:
        made = [best_section.section(settings, history, found), todo]
    else:
        recipes = computed(settings, partial(_recipes, known, found["front"]))
        made = [recipes, todo, computed(settings, partial(_fronts, known)), _progress(known)]
    found = found | {"incumbent": {"params": params}}
    made += [*_suspects(known, found), *_each(known), failures_section.section(settings, history, fits, found, where)]
    if settings.space.is_pool:
        return [*made, computed(settings, lambda: pool_section.of_several(settings, history, fits, known.seen))]
    surfaces = [
        slices_section.Surface(of.fitted, of.wanted.quantity, of.wanted, slices_section.measured(of.judged))
        for of in known.seen
    ]
    slices = why + computed(
        settings, lambda: slices_section.section(space_of(settings, history), params, surfaces, where)
    )
    return [*made, part(f"The surrogates, through {where}", slices, is_wide=True)]


def _here(known: Known, history: History, fits: FitCache) -> tuple[Mapping[str, Any], str, str]:
    """The point that slices go through, what it is called, and why it is that one."""
    if known.front is None:
        return best(known.settings, history, fits).params, slices_section.INCUMBENT, ""
    if len(known.front):
        here, why = fronts.compromise(known.settings, known.front), CHOSEN
    else:
        here, why = max(known.points, key=lambda point: point.probability_feasible), LIKELIEST
    return here.params, f"the point of trial {here.trial.number}", why


def _recipes(known: Known, found: dict[str, Any]) -> str:
    """The points of the front, each a recipe."""
    settings, around = known.settings, known.front
    assert around is not None
    title = outcome_words.title(found)
    shown = outcome_words.rows(found, dict(zip(_names(settings), _labels(settings), strict=True)))
    rows = [{key: value for key, value in row.items() if key not in ("trial", "at")} for row in shown]
    lines = [[_trial(point), *map(escape, row.values())] for point, row in zip(around, rows, strict=True)]
    listed = table(["trial", *rows[0]], lines, is_safe=True) if rows else ""
    whose = f"; the reference point {'was given' if settings.reference_point else 'is from what is believed'}"
    text = f"<p>{escape(title[0].upper() + title[1:] + (whose if rows else ''))}.</p>"
    middle = f"<p>{MIDDLE.format(fronts.compromise(settings, around).trial.number)}</p>" if len(around) > 1 else ""
    return part(TITLE, listed + middle + text)


def _fronts(known: Known) -> str:
    charts = known.fronts
    text = FRONT.format("what it dominates" if len(known.settings.objectives) == 2 else STEPS)
    drawn = [svg.draw(chart) + svg.legend(chart) for chart in charts]
    shown = side_by_side(drawn) if len(charts) > 1 else "".join(drawn)
    return part("The front", f"{shown}<p>{text}</p>", is_wide=len(charts) > 1)


def _progress(known: Known) -> str:
    return part("Hypervolume by trial", f"{svg.draw(fronts.progress(known.volumes))}<p>{PROGRESS}</p>")


def _names(settings: Settings) -> list[str]:
    return [wanted.name for wanted in settings.outcomes]


def _labels(settings: Settings) -> list[str]:
    return [wanted.quantity.label for wanted in settings.outcomes]


def _trial(point: FrontPoint) -> str:
    """A trial's number and point, as HTML of a table's wide column."""
    return f'<div style="{WIDE}">{escape(f"{point.trial.number}: {outcome_words.brief(point.params, SHORT)}")}</div>'


def _suspects(known: Known, found: dict[str, Any]) -> list[str]:
    if not known.seen:
        return []
    failed = {(o.trial.number, o.outcome): o.failed for of in known.seen for o in of.judged}
    with_failed = [each | {"failed": failed[each["trial"], each["outcome"]]} for each in found["outliers"]]
    judged = found | {"outliers": with_failed}
    return [part(outliers_section.TITLE, outliers_section.section(judged, known.settings.quantities), is_wide=True)]


def _each(known: Known) -> list[str]:
    """Each outcome's values by trial."""
    if not known.seen:
        return []
    charts = known.timelines
    shown = [f"<h3>{escape(chart.y.label)}</h3>{svg.draw(chart)}{svg.legend(chart)}" for chart in charts]
    said = ([BEST] if known.best else []) + ([BEYOND] if any(chart.notes for chart in charts) else [])
    text = f"<p>{' '.join(said)}</p>" if said else ""
    return [part("Each outcome by trial", side_by_side(shown) + text, is_wide=True)]
