"""A page's first part: the best recipe, or those of the front, with what is believed and what was measured of each."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from robustbo.report.charts import fronts
from robustbo.report.page.table import Table, Wrapped
from robustbo.report.summary import text_outcomes
from robustbo.report.summary.text_outcomes import short
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.view.view import View

SINGULAR, PLURAL = "The best recipe", "The best recipes"
SHORT = 4  # digits of a number in a table of many columns
MIDDLE = "A fair compromise is trial {}, which by itself dominates the most."
Wrong = Collection[tuple[int, str | None]]  # the trial and the outcome of each value that is called wrong


class Recipes(NamedTuple):
    """The part: a sentence in large letters, a table, and paragraphs below it."""

    title: str
    lead: str = ""
    table: Table | None = None
    notes: tuple[str, ...] = ()


def best_recipe(view: View, overview: dict[str, Any]) -> Recipes:
    """The best point of one objective, and the point of the best measured value beside it where that is another.

    Args:
        view: The optimization, which has a best point.
        overview: Of it.
    """
    history, quantities = view.of_target, view.settings.quantities
    best, raw = overview["incumbent"], overview["best_raw_value"]
    beliefs = [f"{quantity.name} {_belief(quantity, name, best, 4)}".lstrip() for name, quantity in quantities.items()]
    lead = f"The best point by the posterior is that of {history[best['trial']].title}: {', '.join(beliefs)}."
    if (chance := best.get("probability_feasible", 1.0)) < 1:
        lead += f" It keeps the bounds with probability {chance:.2g}."
    first, second = history[best["trial"]], history[raw["trial"]]
    is_as_good = (first.value, first.values) == (second.value, second.values)
    points = [best] if is_as_good or first.point == second.point else [best, raw]
    names = list(dict.fromkeys(name for point in points for name in point["params"]))
    rows = [[name, *(_parameter(point["params"], name) for point in points)] for name in names]
    wrong = {(o["trial"], o.get("outcome")) for o in overview["outliers"] if o["flagged"]}
    for name, quantity in quantities.items():
        title = quantity.name or "value"
        rows.append([f"{title}, believed", *[_belief(quantity, name, best, 6), ""][: len(points)]])
        values = (_values_at(history, point["trial"], name, quantity, wrong) for point in points)
        rows.append([f"{title}, measured", *values])
    titles = [first.title, f"{second.title}, best measured"][: len(points)]
    notes = (_reason(raw["trial"], wrong, is_several=len(quantities) > 1),) if len(points) > 1 else ()
    return Recipes(SINGULAR, lead, Table(["", *titles], rows), notes)


def _belief(quantity: Outcome, name: str | None, best: Mapping[str, Any], digits: int) -> str:
    """The posterior of an outcome at the best point, as text."""
    value = best["value"] if name is None else best["outcomes"][name]["mean"]
    sd = best["sd"] if name is None else best["outcomes"][name]["sd"]
    return quantity.amount(value, sd, digits=digits)


def _parameter(params: Mapping[str, Any], name: str) -> str:
    return short(params[name]) if name in params else "-"


def _values_at(history: History, number: int, name: str | None, quantity: Outcome, wrong: Wrong) -> str:
    """All values told at the point of a trial, and which of them are called wrong."""
    texts = []
    for trial in history.at_points()[history[number].point]:
        alone = trial if name is None else trial.of(name)
        if alone.state == "told":
            texts.append(quantity.number(alone.measured) + (" (called wrong)" if (trial.number, name) in wrong else ""))
    return ", ".join(texts) or "-"


def _reason(number: int, wrong: Wrong, *, is_several: bool) -> str:
    """The reason why the best measured value is not that of the best recipe."""
    if number in {trial for trial, _ in wrong}:
        reason = "a value of that trial is called wrong" if is_several else "it is called wrong"
    else:
        reason = "its point is not better by the posterior" + (", or breaks a bound" if is_several else "")
    return f"The best measured value is that of trial {number}; {reason}."


def front_recipes(view: View, overview: dict[str, Any]) -> Recipes:
    """The points of the front, each a recipe.

    Args:
        view: The optimization, which has a front.
        overview: Of it.
    """
    settings, front, values = view.settings, view.front(), overview["front"]
    text = text_outcomes.title(values)
    labels = {outcome.name: outcome.quantity.label for outcome in settings.outcomes}
    rows = [
        {key: value for key, value in row.items() if key not in ("trial", "at")}
        for row in text_outcomes.rows(values, labels)
    ]
    if not rows:
        return Recipes(PLURAL, notes=(f"{text}.",))
    recipes = [
        [Wrapped(f"{point.trial.number}: {text_outcomes.brief(point.params, SHORT)}", 8), *row.values()]
        for point, row in zip(front, rows, strict=True)
    ]
    middle = [MIDDLE.format(fronts.compromise(settings, front).trial.number)] if len(front) > 1 else []
    origin = f"the reference point {'was given' if settings.reference_point else 'is from what is believed'}"
    notes = (*middle, f"{text}; {origin}.")
    return Recipes(PLURAL, table=Table(["trial", *rows[0]], recipes), notes=notes)
