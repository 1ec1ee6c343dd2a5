"""The progress of a study: the best so far, charts by trial, what to look at, and whether there is much to gain."""

from __future__ import annotations

import math
from typing import NamedTuple

from robustbo.driving.stopping import LittleToGain
from robustbo.loop.surrogate.attempt import attempt
from robustbo.report.charts import fronts, several_charts, timeline
from robustbo.report.charts.chart import Chart
from robustbo.report.charts.one_outcome import single_outcomes
from robustbo.report.page.best_section import Recipes, best_recipe, front_recipes
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_todo import todo
from robustbo.serve.served import Served
from robustbo.serve.why import gain_text
from robustbo.view.view import View

MOST_PROMISES = 24  # open points that are looked at


class Progress(NamedTuple):
    """The state of a study: its best, its charts with their titles, sentences on what to do, and why not all is there.

    Attributes:
        recipes: The best points; None where nothing is believed yet.
        charts: By title.
        promises: Sentences on what could still be won.
        steps: What to do next.
        hint: Whether more points promise anything; empty where that is not known.
        reasons: Why something could not be computed.
    """

    recipes: Recipes | None
    charts: dict[str, Chart]
    promises: list[str]
    steps: list[str]
    hint: str
    reasons: list[str]


def progress(view: View, opt: Served) -> Progress:
    """The progress of the study, as is believed now."""
    surrogate, summary = view.settings.surrogate, overview(view)
    steps = [step.text for step in todo("", summary)]
    if not view.is_measured:
        return Progress(None, {}, [], steps, "", [])
    is_single = summary["incumbent"] is not None
    recipes, no_recipes = attempt(lambda: (best_recipe if is_single else front_recipes)(view, summary), surrogate)
    charts, no_charts = attempt(lambda: _charts(view), surrogate)
    promises, _ = attempt(lambda: _promises(view), surrogate)
    hint, _ = attempt(lambda: _hint(view, opt), surrogate)
    return Progress(
        recipes, charts or {}, promises or [], steps, hint or "", [why for why in (no_recipes, no_charts) if why]
    )


def _charts(view: View) -> dict[str, Chart]:
    if not view.settings.outcomes:
        return {"Values by trial": timeline.values(view)}
    singles = single_outcomes(view)
    pairs = several_charts.front_charts(view, singles)
    by_title = {f"{chart.y.label} against {chart.x.label}": chart for chart in pairs}
    if pairs:
        by_title["Hypervolume by trial"] = fronts.progress(view.hypervolumes())
    return by_title | {chart.y.label: chart for chart in several_charts.timelines(view, singles)}


def _promises(view: View) -> list[str]:
    """Sentences on what the points that are to be measured may win; none where the model has chosen none of them."""
    trials = [trial for trial in view.history if trial.is_open and trial.origin == "model"][:MOST_PROMISES]
    gains = {trial.title: view.promise(trial).gain for trial in trials}
    finite = {title: gain for title, gain in gains.items() if math.isfinite(gain)}
    if not finite:
        return []
    title = max(finite, key=lambda title: finite[title])
    sentence = f"Of the points to be measured {title} promises most: {gain_text(view, finite[title])} on the average."
    volumes = view.hypervolumes() if len(view.settings.objectives) > 1 else []
    if volumes and volumes[-1] > 0:
        sentence += f" That is {100 * finite[title] / volumes[-1]:.2g} % of what the front dominates by now."
    return [sentence]


def _hint(view: View, opt: Served) -> str:
    """A sentence where the last points promised little; of several objectives nothing is said."""
    by_model = [trial for trial in view.history if trial.origin == "model" and not trial.is_open]
    if len(view.settings.objectives) > 1 or not by_model:
        return ""
    if LittleToGain()(opt, by_model[-1]):
        return "The last points promised little beside the noise: it may be time to stop."
    return ""
