"""An overview in words: lines, tables, and what can be done."""

from datetime import datetime
from typing import Any

from robustbo.report.summary import text_outcomes as of_several
from robustbo.report.summary import text_space
from robustbo.report.summary.text_failures import lead
from robustbo.report.summary.text_failures import rows as failed_rows
from robustbo.report.summary.text_outcomes import place_of
from robustbo.report.summary.text_quantities import quantity
from robustbo.report.summary.text_times import since
from robustbo.trials.outcome import Outcome
from robustbo.trials.trial import in_a_line

EVEN = 0.5  # probability that a whole trial has failed, from which on the outliers' table says so
SHOWN = 20  # trials in one of the tables, the last; JSON has all
TITLES = {"pending": "being measured", "queued": "waiting for the next ask", "failed": "failed", "excluded": "excluded"}
UNCOMPUTED = {"outliers": "which values look wrong could not be computed", "front": "the front could not be computed"}


def lines(name: str, found: dict[str, Any]) -> list[str]:
    """An `overview` for people, but for its diagnoses and outliers."""
    shown = [f"{name}: {how(found)}", how_far(found), *text_space.lines(found), *not_computed(found)]
    for label in ("incumbent", "best_raw_value"):
        if (first := found[label]) is not None:
            shown.append(f"{label.replace('_', ' ')}: trial {first['trial']}, {_said(found, first)}")
    if found["fallbacks"]:
        last = found["fallbacks"][-1]
        shown.append(
            f"asked by a simpler surrogate: {len(found['fallbacks'])} trials, last {last['trial']} {last['why']}"
        )
    lacking = [each["outcome"] for each in found.get("outcomes", ()) if not each["values"]]
    if found.get("front", "") is None and found["trials"]["told"] and lacking:
        shown.append(f"no front yet: of {' and '.join(lacking)} no value has been told")
    if found.get("front") and not found["front"]["points"]:
        shown.append(of_several.title(found["front"]))
    if "failures" in found:
        shown.append(lead(found["failures"]))
    return shown


def not_computed(found: dict[str, Any]) -> list[str]:
    """What of an `overview` could not be had, and why: a line each."""
    return [f"{UNCOMPUTED[what]}: {why}" for what, why in found.get("not_computed", {}).items()]


def _said(found: dict[str, Any], first: dict[str, Any]) -> str:
    """What is known of the best point, and where it is."""
    each = [
        f"{name} {quantity(found, name).amount(said['mean'], said['sd'])}"
        for name, said in first.get("outcomes", {}).items()
    ]
    each += [f"{name} {quantity(found, name).number(value)}" for name, value in first.get("values", {}).items()]
    only = quantity(found)
    chance = first.get("probability_feasible", 1.0)
    kept = "" if chance == 1 else f", keeps the bounds with probability {chance:.2g}"
    value = ", ".join(each) or f"{only.name} {only.amount(first['value'], first['sd'])}".lstrip()
    return f"{value}, at {place_of(first['params'])}{kept}"


def how(found: dict[str, Any]) -> str:
    """What an `overview` is of."""
    return f"{found.get('goal') or found['direction']} with {found['surrogate']}, seed {found['seed']}"


def how_far(found: dict[str, Any]) -> str:
    """How many trials are in which state; and of how many single outcomes alone are excluded."""
    said = ", ".join(f"{count} {state}" for state, count in found["trials"].items())
    partly = {each["trial"] for each in found["excluded"] if "outcome" in each}
    count = len(partly) - found["trials"]["excluded"]
    return said + (f", {count} excluded in some outcomes" if partly and count else "")


def verdict_row(diagnosis: dict[str, Any]) -> dict[str, Any]:
    """A diagnosis of an `overview` as a table's row."""
    called = list(zip(diagnosis["outliers"], diagnosis["percentiles"], strict=True))
    return {
        "before trial": diagnosis["trial"],
        "values judged": diagnosis["observations"],
        "outliers (percentile)": ", ".join(f"{trial} ({100 * u:.3g} %)" for trial, u in called) or "none",
        "verdict": "void: more than half, all are used" if diagnosis["void"] else "left out" if called else "",
    }


def results(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What is known of several outcomes, the front, the diagnoses and the outliers of an `overview`, as titles and
    rows; none that is empty."""
    made = {"outcomes": [_known(found, each) for each in found.get("outcomes", [])]}
    if found.get("front"):
        labels = {name: quantity(found, name).label for name in found["objectives"]}
        labels |= {each["outcome"]: quantity(found, each["outcome"]).label for each in found["outcomes"]}
        made[of_several.title(found["front"])] = of_several.rows(found["front"], labels)
    made["diagnoses on schedule"] = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
    suspects, has_failed = found["outliers"], any(o.get("trial_failed", 0.0) > EVEN for o in found["outliers"])
    left_out = {"flagged", "remeasured", "weight", "params"} | (
        set() if has_failed else {"trial_failed"}
    )  # what the status says
    shown = [_labelled(found, {k: v for k, v in o.items() if k not in left_out}) for o in suspects]
    made["values that look wrong, the most suspicious first"] = shown
    return {title: rows for title, rows in made.items() if rows}


def _known(found: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """What is known of one of several outcomes as a table's row: with its label, and its range where one is said."""
    of, ranges = quantity(found, outcome["outcome"]), [Outcome.from_dict(each) for each in found.get("outcome", ())]
    possible = {"possible": of.range if of.is_bounded else "any"} if any(each.is_bounded for each in ranges) else {}
    rest = {key: value for key, value in outcome.items() if key not in ("outcome", "wanted")}
    return {"outcome": of.label, "wanted": outcome["wanted"], **possible, **rest}


def _labelled(found: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row of a value, headed by the label of what is measured; of several outcomes with that in its cell."""
    if "outcome" in row:
        return row | {"outcome": quantity(found, row["outcome"]).label}
    return {quantity(found).label if key == "value" else key: value for key, value in row.items()}


def tables(found: dict[str, Any], now: datetime | None = None) -> dict[str, list[dict[str, Any]]]:
    """The trials of an `overview` that have no value that counts, as titles and rows; none that is empty.

    Args:
        found: The overview.
        now: What time it is, with a time zone, where it is to be said how long ago something was.
    """
    made = {}
    for state, title in TITLES.items():
        trials = found[state]
        more = f", the last {SHOWN} of {len(trials)}" if len(trials) > SHOWN else ""
        if trials:
            made[title + more] = [
                row | {"at": place_of(trial["params"])}
                for row, trial in zip(_rows(found, state, now), trials[-SHOWN:], strict=True)
            ]
    return made


def _rows(found: dict[str, Any], state: str, now: datetime | None) -> list[dict[str, Any]]:
    """What a table says of each of the last trials in a state, but for its point."""
    trials = found[state][-SHOWN:]
    if state == "failed":
        return failed_rows(trials)
    has_reasons = any(trial.get("reason") for trial in trials)
    return [
        {"trial": trial["trial"], **_row(found, state, trial, now)}
        | ({"reason": in_a_line(trial["reason"]) or "-"} if has_reasons else {})
        for trial in trials
    ]


def _row(found: dict[str, Any], state: str, trial: dict[str, Any], now: datetime | None) -> dict[str, Any]:
    if state == "pending":
        return {"by": trial["asked_by"] or "unknown", "since": since(trial["asked_at"], now)}
    if state != "excluded":
        return {}
    outcome, of = {"outcome": trial["outcome"]} if "outcome" in trial else {}, quantity(found, trial.get("outcome"))
    heading = "value" if outcome else of.name or "value"
    return outcome | {heading: of.amount(trial["value"], trial["sd"])}
