"""An overview in words: lines, tables, and what can be done."""

from datetime import UTC, datetime
from typing import Any

from robustbo.report.words import chosen
from robustbo.report.words import outcomes as of_several
from robustbo.report.words.failures import lead
from robustbo.report.words.failures import rows as failed_rows
from robustbo.report.words.outcomes import place_of
from robustbo.trials.trial import in_a_line

EVEN = 0.5  # probability that a whole trial has failed, from which on the outliers' table says so
SHOWN = 20  # trials in one of the tables, the last; JSON has all
TITLES = {"pending": "being measured", "queued": "waiting for the next ask", "failed": "failed", "excluded": "excluded"}
UNCOMPUTED = {"outliers": "which values look wrong could not be computed", "front": "the front could not be computed"}
UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def lines(name: str, found: dict[str, Any]) -> list[str]:
    """An `overview` for people, but for its diagnoses and outliers."""
    shown = [f"{name}: {how(found)}", how_far(found), *chosen.lines(found), *not_computed(found)]
    for label in ("incumbent", "best_raw_value"):
        if (first := found[label]) is not None:
            shown.append(f"{label.replace('_', ' ')}: trial {first['trial']}, {_said(first)}")
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
        if not found["trials"]["told"] + found["trials"]["excluded"] and len(found["failed"]) > 1:
            shown.append("no trial has given a value yet: it may not be the points, but what evaluates them")
    return shown


def not_computed(found: dict[str, Any]) -> list[str]:
    """What of an `overview` could not be had, and why: a line each."""
    return [f"{UNCOMPUTED[what]}: {why}" for what, why in found.get("not_computed", {}).items()]


def _said(first: dict[str, Any]) -> str:
    """What is known of the best point, and where it is."""
    each = [f"{name} {with_sd(said['mean'], said['sd'])}" for name, said in first.get("outcomes", {}).items()]
    each += [of_several.values(first["values"])] if "values" in first else []
    chance = first.get("probability_feasible", 1.0)
    kept = "" if chance == 1 else f", keeps the bounds with probability {chance:.2g}"
    return f"{', '.join(each) or with_sd(first['value'], first['sd'])}, at {place_of(first['params'])}{kept}"


def how(found: dict[str, Any]) -> str:
    """What an `overview` is of."""
    return f"{found.get('goal') or found['direction']} with {found['surrogate']}, seed {found['seed']}"


def how_far(found: dict[str, Any]) -> str:
    """How many trials are in which state; and of how many single outcomes alone are excluded."""
    said = ", ".join(f"{count} {state}" for state, count in found["trials"].items())
    partly = {each["trial"] for each in found["excluded"] if "outcome" in each}
    count = len(partly) - found["trials"]["excluded"]
    return said + (f", {count} excluded in some outcomes" if partly and count else "")


def with_sd(value: float, sd: float | None) -> str:
    """A value, and its standard deviation where there is one."""
    return f"{value:.6g}" if sd is None else f"{value:.6g} (sd {sd:.2g})"


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
    made = {"outcomes": found.get("outcomes", [])}
    if found.get("front"):
        made[of_several.title(found["front"])] = of_several.rows(found["front"])
    made["diagnoses on schedule"] = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
    suspects, has_failed = found["outliers"], any(o.get("trial_failed", 0.0) > EVEN for o in found["outliers"])
    left_out = {"flagged", "remeasured", "weight"} | (set() if has_failed else {"trial_failed"})  # what the status says
    shown = [{key: value for key, value in o.items() if key not in left_out} for o in suspects]
    made["values that look wrong, the most suspicious first"] = shown
    return {title: rows for title, rows in made.items() if rows}


def tables(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The trials of an `overview` that have no value that counts, as titles and rows; none that is empty."""
    made = {}
    for state, title in TITLES.items():
        trials = found[state]
        more = f", the last {SHOWN} of {len(trials)}" if len(trials) > SHOWN else ""
        if trials:
            made[title + more] = [
                row | {"at": place_of(trial["params"])}
                for row, trial in zip(_rows(state, trials[-SHOWN:]), trials[-SHOWN:], strict=True)
            ]
    return made


def advice(name: str, found: dict[str, Any]) -> list[str]:
    """What can be done about trials that nobody measures any more."""
    gone = [trial["trial"] for trial in found["pending"] if trial["has_ended"]]
    if not gone:
        return []
    who = f"the process that asked for trial {gone[0]} has ended"
    if len(gone) > 1:
        who = f"the processes that asked for {len(gone)} of these trials have ended"
    again = "it" if len(gone) == 1 else "them"
    return [f"{who}; `robustbo requeue {name}` lets the next ask give {again} out again"]


def _rows(state: str, trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a table says of each trial in a state, but for its point."""
    if state == "failed":
        return failed_rows(trials)
    has_reasons = any(trial.get("reason") for trial in trials)
    return [
        {"trial": trial["trial"], **_row(state, trial)}
        | ({"reason": in_a_line(trial["reason"]) or "-"} if has_reasons else {})
        for trial in trials
    ]


def _row(state: str, trial: dict[str, Any]) -> dict[str, Any]:
    if state == "pending":
        return {"by": trial["asked_by"] or "unknown", "since": _ago(trial["asked_at"])}
    if state != "excluded":
        return {}
    outcome = {"outcome": trial["outcome"]} if "outcome" in trial else {}
    return outcome | {"value": with_sd(trial["value"], trial["sd"])}


def _ago(at: str | None) -> str:
    if at is None:
        return "unknown"
    when = datetime.fromisoformat(at).astimezone(UTC)
    seconds = (datetime.now(UTC) - when).total_seconds()
    count = next((f"{seconds / size:.0f} {unit}" for unit, size in UNITS if seconds >= size), f"{seconds:.0f} s")
    return f"{when:%Y-%m-%d %H:%M} UTC, {count} ago"
