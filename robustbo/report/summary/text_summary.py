"""An overview in words: lines, tables, and what can be done."""

from datetime import datetime
from typing import Any

from robustbo.censored import from_json, is_bound
from robustbo.report.summary import names, text_outcomes, text_relations, text_sources, text_space
from robustbo.report.summary.text_failures import lead
from robustbo.report.summary.text_failures import rows as failed_rows
from robustbo.report.summary.text_outcomes import place_of
from robustbo.report.summary.text_quantities import quantity
from robustbo.report.summary.text_times import since
from robustbo.rounding import format_number
from robustbo.trials.identity import in_a_line
from robustbo.trials.outcome import Outcome

EVEN = 0.5  # probability that a whole trial has failed, from which on the outliers' table says so
SHOWN = 20  # trials in one of the tables, the last; JSON has all
TITLES = {
    "pending": "being measured",
    "queued": "waiting for the next ask",
    "withdrawn": "withdrawn",
    "failed": "failed",
    "excluded": "excluded",
}
UNCOMPUTED = {
    "outliers": "which values look wrong could not be computed",
    "front": "the front could not be computed",
    "sources": "which source is in error could not be computed",
    "relations": "what other sources say could not be computed",
}


def lines(name: str, overview: dict[str, Any]) -> list[str]:
    """An `overview` for people, except for its diagnoses and outliers."""
    shown = [f"{name}: {how(overview)}", how_far(overview), *text_space.lines(overview), *failure_lines(overview)]
    for label in ("incumbent", "best_raw_value"):
        if (first := overview[label]) is not None:
            shown.append(f"{label.replace('_', ' ')}: {names.title(first)}, {_incumbent_text(overview, first)}")
    if overview["fallbacks"]:
        last = overview["fallbacks"][-1]
        shown.append(
            f"asked by a simpler surrogate: {len(overview['fallbacks'])} trials, last {last['trial']} {last['why']}"
        )
    lacking = [outcome["outcome"] for outcome in overview.get("outcomes", ()) if not outcome["values"]]
    if overview.get("front", "") is None and overview["trials"]["told"] and lacking:
        shown.append(f"no front yet: of {' and '.join(lacking)} no value has been told")
    if overview.get("front") and not overview["front"]["points"]:
        shown.append(text_outcomes.title(overview["front"]))
    if "failures" in overview:
        shown.append(lead(overview["failures"]))
    return shown + pattern_lines(overview) + text_relations.lines(overview) + text_sources.lines(overview)


def pattern_lines(overview: dict[str, Any]) -> list[str]:
    """The patterns of the flagged values of an `overview`: a line each."""
    return [f"flagged values: {pattern['text']}" for pattern in overview.get("flag_patterns", ())]


def failure_lines(overview: dict[str, Any]) -> list[str]:
    """The parts of an `overview` that could not be computed, and why: a line each."""
    return [f"{UNCOMPUTED[key]}: {reason}" for key, reason in overview.get("not_computed", {}).items()]


def _incumbent_text(overview: dict[str, Any], best: dict[str, Any]) -> str:
    """The values of the best point, and where it is."""
    amounts = [
        f"{name} {quantity(overview, name).amount(posterior['mean'], posterior['sd'])}"
        for name, posterior in best.get("outcomes", {}).items()
    ]
    amounts += [f"{name} {quantity(overview, name).number(value)}" for name, value in best.get("values", {}).items()]
    only = quantity(overview)
    chance = best.get("probability_feasible", 1.0)
    feasibility = "" if chance == 1 else f", keeps the bounds with probability {chance:.2g}"
    value = ", ".join(amounts) or f"{only.name} {only.amount(best['value'], best['sd'])}".lstrip()
    return f"{value}, at {place_of(best['params'])}{feasibility}"


def how(overview: dict[str, Any]) -> str:
    """The goal, the surrogate and the seed of an `overview`, in words."""
    return f"{overview.get('goal') or overview['direction']} with {overview['surrogate']}, seed {overview['seed']}"


def how_far(overview: dict[str, Any]) -> str:
    """The number of trials in each state, and of those of which single outcomes alone are excluded."""
    text = ", ".join(f"{count} {state}" for state, count in overview["trials"].items())
    partly = {row["trial"] for row in overview["excluded"] if "outcome" in row}
    count = len(partly) - overview["trials"]["excluded"]
    return text + (f", {count} excluded in some outcomes" if partly and count else "")


def verdict_row(diagnosis: dict[str, Any]) -> dict[str, Any]:
    """A diagnosis of an `overview` as a table's row."""
    called = list(zip(diagnosis["outliers"], diagnosis["percentiles"], strict=True))
    return {
        "before trial": diagnosis["trial"],
        "values judged": diagnosis["observations"],
        "outliers (percentile)": ", ".join(f"{trial} ({100 * u:.3g} %)" for trial, u in called) or "none",
        "verdict": "void: more than half, all are used" if diagnosis["void"] else "left out" if called else "",
    }


def results(overview: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The tables of several outcomes, the front, the diagnoses and the outliers of an `overview`, as titles and rows;
    none that is empty."""
    by_title = {"outcomes": [_outcome_row(overview, outcome) for outcome in overview.get("outcomes", [])]}
    if overview.get("front"):
        labels = {name: quantity(overview, name).label for name in overview["objectives"]}
        labels |= {row["outcome"]: quantity(overview, row["outcome"]).label for row in overview["outcomes"]}
        by_title[text_outcomes.title(overview["front"])] = text_outcomes.rows(overview["front"], labels)
    by_title[text_relations.TITLE] = text_relations.rows(overview)
    by_title[text_sources.TITLE] = text_sources.rows(overview)
    by_title["diagnoses on schedule"] = [verdict_row(diagnosis) for diagnosis in overview["diagnoses"]]
    outliers, has_failed = overview["outliers"], any(o.get("trial_failed", 0.0) > EVEN for o in overview["outliers"])
    omitted = {
        "flagged",
        "remeasured",
        "weight",
        "params",
        "labels",
        *([] if has_failed else ["trial_failed"]),
    }  # by the status
    doubtful = [
        _with_label(overview, {key: value for key, value in outlier.items() if key not in omitted} | _digits(outlier))
        for outlier in outliers
    ]
    by_title["values in doubt, the most suspicious first"] = names.with_names(doubtful, outliers)
    return {title: rows for title, rows in by_title.items() if rows}


def _digits(outlier: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a doubtful value, with the digits that count beside their standard deviation."""
    sd = outlier["sd"]
    numbers = {name: from_json(outlier[name]) for name in ("value", "expected")}
    shown = {name: str(n) if is_bound(n) else format_number(n, 4, sd) for name, n in numbers.items()}
    return shown | {"sd": f"{sd:.2g}"}


def _outcome_row(overview: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """One of several outcomes as a table's row: with its label, and its range where one is said."""
    of, quantities = quantity(overview, outcome["outcome"]), map(Outcome.from_dict, overview.get("outcome", ()))
    has_ranges = any(quantity.is_bounded for quantity in quantities)
    possible = {"possible": of.range if of.is_bounded else "any"} if has_ranges else {}
    rest = {key: value for key, value in outcome.items() if key not in ("outcome", "wanted")}
    return {"outcome": of.label, "wanted": outcome["wanted"], **possible, **rest}


def _with_label(overview: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row of a value, headed by the label of what is measured; of several outcomes with that in its cell."""
    if "outcome" in row:
        return row | {"outcome": quantity(overview, row["outcome"]).label}
    return {quantity(overview).label if key == "value" else key: value for key, value in row.items()}


def tables(overview: dict[str, Any], now: datetime | None = None) -> dict[str, list[dict[str, Any]]]:
    """The trials of an `overview` that have no value that counts, as titles and rows; none that is empty.

    Args:
        overview: Of an optimization.
        now: What time it is, with a time zone, where it is to be said how long ago something was.
    """
    by_title = {}
    for state, title in TITLES.items():
        trials = overview.get(state, [])
        more = f", the last {SHOWN} of {len(trials)}" if len(trials) > SHOWN else ""
        if trials:
            rows = [
                row | {"at": place_of(trial["params"])}
                for row, trial in zip(_rows(overview, state, now), trials[-SHOWN:], strict=True)
            ]
            by_title[title + more] = names.with_names(rows, trials[-SHOWN:])
    return by_title


def _rows(overview: dict[str, Any], state: str, now: datetime | None) -> list[dict[str, Any]]:
    """The rows of a table of the last trials in a state, except for their points."""
    trials = overview[state][-SHOWN:]
    if state == "failed":
        return failed_rows(trials)
    has_reasons = any(trial.get("reason") for trial in trials)
    return [
        {"trial": trial["trial"]}
        | ({"source": trial["source"] or "-"} if "source" in trial else {})
        | _row(overview, state, trial, now)
        | ({"reason": in_a_line(trial["reason"]) or "-"} if has_reasons else {})
        for trial in trials
    ]


def _row(overview: dict[str, Any], state: str, trial: dict[str, Any], now: datetime | None) -> dict[str, Any]:
    if state == "pending":
        return {"by": trial["asked_by"] or "unknown", "since": since(trial["asked_at"], now)}
    if state != "excluded":
        return {}
    outcome, of = {"outcome": trial["outcome"]} if "outcome" in trial else {}, quantity(overview, trial.get("outcome"))
    heading = "value" if outcome else of.name or "value"
    return outcome | {heading: of.amount(from_json(trial["value"]), trial["sd"])}
