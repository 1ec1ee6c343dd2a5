"""An optimization's journal as a page: the best recipe, what to do next, what looks wrong, slices, all trials."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from robustbo.report.charts import fronts, several_charts, timeline
from robustbo.report.charts.chart import Chart
from robustbo.report.charts.one_outcome import SingleOutcome, single_outcomes
from robustbo.report.charts.slices import INCUMBENT
from robustbo.report.page.attempts import Attempt
from robustbo.report.page.best_section import PLURAL, SINGULAR, Recipes, best_recipe, front_recipes
from robustbo.report.page.environment import render
from robustbo.report.page.failures_section import failures_section
from robustbo.report.page.html import document
from robustbo.report.page.outliers_section import outliers_section
from robustbo.report.page.pool_section import pool_section
from robustbo.report.page.relations_section import relations_section
from robustbo.report.page.slices_section import Around, SlicesSection, Surface, slices_section
from robustbo.report.page.sources_section import sources_section
from robustbo.report.page.surfaces import with_surfaces
from robustbo.report.page.table import Table
from robustbo.report.page.trials_section import trials_section
from robustbo.report.summary import space, text_space
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_summary import how, how_far, tables
from robustbo.report.summary.text_todo import todo
from robustbo.view.view import View

SOMEWHERE = "JOURNAL"  # in commands, where a page does not know the place
COMPROMISE = "It is the point of the front that dominates the most by itself."
LIKELIEST = "It is the point that most probably keeps all bounds."


class OutcomeCharts(NamedTuple):
    """Several outcomes: each by itself, and charts of pairs of objectives, of the hypervolume, and of each by trial."""

    singles: Sequence[SingleOutcome] = ()
    fronts: Sequence[Chart] = ()
    hypervolume: Chart | None = None
    timelines: Sequence[Chart] = ()


def page(
    name: str,
    view: View,
    *,
    version: str | None = None,
    place: str = SOMEWHERE,
    made_at: datetime | None = None,
) -> str:
    """The page.

    Args:
        name: Of the optimization, as its page calls it.
        view: The optimization.
        version: Of the journal, where the page is served and shows itself anew when that changes.
        place: Of the journal, for commands.
        made_at: When the page is made, with a time zone; it says so where it is given, and else depends on nothing but
            the history.

    What cannot be computed is said in its place.
    """
    return document(name, body(view, place=place, made_at=made_at), version, made_at)


def body(view: View, *, place: str = SOMEWHERE, made_at: datetime | None = None, level: int = 2) -> str:
    """The page below its title, as HTML.

    Args:
        view: The optimization.
        place: Of the journal, for commands.
        made_at: When the page is made.
        level: Of its headings.
    """
    return render("journal.html", level=level, **sections(view, place, made_at))


def sections(view: View, place: str = SOMEWHERE, made_at: datetime | None = None) -> dict[str, Any]:
    """The data of each section of the template, None for those that the page has not."""
    settings, summary = view.settings, overview(view)
    is_several, is_told = bool(settings.outcomes), bool(view.of_target.having("told"))
    outcomes = Attempt.of(view, lambda: _outcomes(view)) if is_several else Attempt(OutcomeCharts())
    is_believed = outcomes.reason is None and view.is_measured
    around = best_around(view, summary, is_believed=is_believed)
    is_judged = "outliers" not in summary.get("not_computed", {}) and is_told
    has_outliers = bool(outcomes.result and outcomes.result.singles) if is_several else is_told
    return {
        "lines": [f"{how(summary)}; {how_far(summary)}", *text_space.lines(summary)],
        "best": _best(view, summary, outcomes, PLURAL if is_several else SINGULAR, is_believed=is_believed),
        "steps": todo(place, summary),
        "is_several": is_several,
        "num_objectives": len(settings.objectives),
        "is_believed": is_believed,
        "outcomes": outcomes.result or OutcomeCharts(),
        "progress": Attempt.of(view, lambda: timeline.values(view)) if is_told and not is_several else None,
        "outliers": outliers_section(settings, summary) if has_outliers else None,
        "relations": relations_section(view, summary, around if is_believed else None),
        "sources": sources_section(view, summary),
        "failures": failures_section(view, summary, around),
        "pool": _pool(view, outcomes.result) if is_believed and settings.space.is_pool else None,
        "around": around,
        "slices": _slices(view, outcomes.result, around) if is_believed and not settings.space.is_pool else None,
        "trials": trials_section(view, view.outliers() if is_judged else [], summary),
        "pending": _pending(summary, made_at),
        "space": _space(view),
    }


def _outcomes(view: View) -> OutcomeCharts:
    """The outcomes of several.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    singles = single_outcomes(view)
    pairs, timelines = several_charts.front_charts(view, singles), several_charts.timelines(view, singles)
    return OutcomeCharts(singles, pairs, fronts.progress(view.hypervolumes()) if pairs else None, timelines)


def best_around(view: View, summary: dict[str, Any], *, is_believed: bool) -> Around | None:
    """The point that slices go through; None where there is none."""
    if summary["incumbent"] is not None:
        return Around(summary["incumbent"]["params"], INCUMBENT)
    if not is_believed:
        return None
    if len(view.front()):
        point, reason = fronts.compromise(view.settings, view.front()), COMPROMISE
    else:
        point, reason = max(view.credible_points(), key=lambda point: point.probability_feasible), LIKELIEST
    return Around(point.params, f"the point of trial {point.trial.number}", reason)


def _best(view: View, summary: dict[str, Any], outcomes: Attempt, title: str, *, is_believed: bool) -> Recipes:
    """The best recipe, or those of the front, or under a title why there is none."""
    if outcomes.reason is not None:
        return Recipes(title, notes=(f"The posterior could not be computed: {outcomes.reason}.",))
    if not is_believed:
        text = f"No value of {' and of '.join(view.unmeasured_outcomes())}" if outcomes.result.singles else "Nothing"
        return Recipes(title, notes=(f"{text} has been told yet.",))
    return best_recipe(view, summary) if summary["incumbent"] is not None else front_recipes(view, summary)


def _pool(view: View, outcomes: OutcomeCharts) -> Attempt:
    return Attempt.of(view, lambda: pool_section(view, outcomes.singles))


def _slices(view: View, outcomes: OutcomeCharts, around: Around | None) -> Attempt:
    """The surrogates through a point; of one outcome the first that can be fitted and predicts there."""
    assert around is not None  # where something is believed, one point is the best of it

    def through(surfaces: Sequence[Surface]) -> SlicesSection:
        return slices_section(view.space, around, surfaces)

    return Attempt.of(view, lambda: with_surfaces(view, outcomes.singles, through))


def _pending(summary: dict[str, Any], made_at: datetime | None) -> dict[str, Table]:
    """The trials whose values do not count, by title; failed ones have a section of their own."""
    rows_by_title = tables(summary | {"failed": []}, made_at)
    return {
        title: Table([*rows[0]], [["-" if cell is None else str(cell) for cell in row.values()] for row in rows])
        for title, rows in rows_by_title.items()
    }


def _space(view: View) -> dict[str, Any]:
    """The parameters as a table, and the constraints."""
    rows = space.parameter_rows(view)
    header = ["parameter", "values", *(["exists"] if any(condition for *_, condition in rows) else [])]
    return {"table": Table(header, [row[: len(header)] for row in rows]), "constraints": view.space.texts}
