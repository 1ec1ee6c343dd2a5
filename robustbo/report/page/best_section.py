"""A page's first part: the best recipe, with what is believed of it, and the best measured value beside it."""

from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from robustbo.report.page.html import part, table
from robustbo.report.summary.text_outcomes import short
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings

TITLE = "The best recipe"


def section(settings: Settings, history: History, found: dict[str, Any]) -> str:
    """The part, of one objective that has a best point.

    Args:
        settings: What the optimization was told at its beginning.
        history: What has happened in it.
        found: Its overview.
    """
    best, raw, quantities = found["incumbent"], found["best_raw_value"], settings.quantities
    said = [f"{of.name} {_believed(of, name, best, 4)}".lstrip() for name, of in quantities.items()]
    lead = f"The best by what is believed is the point of trial {best['trial']}: {', '.join(said)}."
    if (chance := best.get("probability_feasible", 1.0)) < 1:
        lead += f" It keeps the bounds with probability {chance:.2g}."
    first, other = history[best["trial"]], history[raw["trial"]]
    is_as_good = (first.value, first.values) == (other.value, other.values)
    columns = [best] if is_as_good or first.point == other.point else [best, raw]
    names = list(dict.fromkeys(name for each in columns for name in each["params"]))
    rows = [[name, *(_of(each["params"], name) for each in columns)] for name in names]
    wrong = {(o["trial"], o.get("outcome")) for o in found["outliers"] if o["flagged"]}
    for name, of in quantities.items():
        title = of.name or "value"
        rows.append([f"{title}, believed", *[_believed(of, name, best, 6), ""][: len(columns)]])
        rows.append([f"{title}, measured", *(_measured(history, each["trial"], name, of, wrong) for each in columns)])
    titles = [f"trial {best['trial']}", f"trial {raw['trial']}, best measured"][: len(columns)]
    why = _why(found, wrong, len(quantities) > 1) if len(columns) > 1 else ""
    return part(TITLE, f'<p class="lead">{escape(lead)}</p>{table(["", *titles], rows)}{why}')


def _believed(of: Outcome, name: str | None, best: Mapping[str, Any], digits: int) -> str:
    """What is believed of an outcome at the best point."""
    value = best["value"] if name is None else best["outcomes"][name]["mean"]
    sd = best["sd"] if name is None else best["outcomes"][name]["sd"]
    return of.amount(value, sd, digits=digits)


def _of(params: Mapping[str, Any], name: str) -> str:
    return short(params[name]) if name in params else "-"


def _measured(
    history: History, number: int, name: str | None, of: Outcome, wrong: Collection[tuple[int, str | None]]
) -> str:
    """All values told at the point of a trial, and which of them are called wrong."""
    texts = []
    for trial in history.at_points()[history[number].point]:
        alone = trial if name is None else trial.of(name)
        if alone.state == "told":
            texts.append(of.number(alone.measured) + (" (called wrong)" if (trial.number, name) in wrong else ""))
    return ", ".join(texts) or "-"


def _why(found: dict[str, Any], wrong: Collection[tuple[int, str | None]], is_several: bool) -> str:
    """Why the best measured value is not that of the best recipe."""
    number = found["best_raw_value"]["trial"]
    if number in {trial for trial, _ in wrong}:
        why = "a value of that trial is called wrong" if is_several else "it is called wrong"
    else:
        why = "by what is believed its point " + ("is not better, or breaks a bound" if is_several else "is not better")
    return f"<p>The best measured value is that of trial {number}; {why}.</p>"
