"""A page's first part: the best recipe, with what is believed of it, and the best measured value beside it."""

from collections.abc import Mapping
from html import escape
from typing import Any

from robustbo.report.html import part, table
from robustbo.report.words.outcomes import short
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
    said = [_believed(of, name, best) for name, of in quantities.items()]
    lead = f"Trial {best['trial']} is the best by what is believed: {', '.join(said)}."
    if (chance := best.get("probability_feasible", 1.0)) < 1:
        lead += f" It keeps the bounds with probability {chance:.2g}."
    columns = {"": best} if raw["trial"] == best["trial"] else {"": best, "best measured": raw}
    names = list(dict.fromkeys(name for each in columns.values() for name in each["params"]))
    rows = [[name, *(_of(each["params"], name) for each in columns.values())] for name in names]
    for name, of in quantities.items():
        there = [_measured(history, each["trial"], name) for each in columns.values()]
        cells = ["" if value is None else of.number(value) for value in there]
        rows.append([f"{of.name or 'value'}, measured", *cells])
    header = ["", f"trial {best['trial']}", *([f"trial {raw['trial']}, best measured"] if len(columns) > 1 else [])]
    return part(TITLE, f'<p class="lead">{escape(lead)}</p>{table(header, rows)}{_why(found, quantities)}')


def _believed(of: Outcome, name: str | None, best: Mapping[str, Any]) -> str:
    """What is believed of an outcome at the best point."""
    value = best if name is None else best["outcomes"][name]
    return f"{of.name} {of.amount(value['value' if name is None else 'mean'], value['sd'])}".lstrip()


def _of(params: Mapping[str, Any], name: str) -> str:
    return short(params[name]) if name in params else "-"


def _measured(history: History, number: int, name: str | None) -> float | None:
    trial = history[number]
    return trial.value if name is None else trial.values.get(name)


def _why(found: dict[str, Any], quantities: Mapping[str | None, Outcome]) -> str:
    """Why the best measured value is not that of the best recipe."""
    best, raw = found["incumbent"], found["best_raw_value"]
    if best["trial"] == raw["trial"]:
        return ""
    wrong = any(o["trial"] == raw["trial"] and o["flagged"] for o in found["outliers"])
    why = "it is called wrong" if wrong else "it is thought to owe some of that to noise"
    if len(quantities) > 1 and not wrong:
        why = "its point is thought to break a bound, or to owe some of that to noise"
    return f"<p>The best measured value is that of trial {raw['trial']}; {why}.</p>"
