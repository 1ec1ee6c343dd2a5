"""An optimization at a glance, as plain JSON values: how far, what is best, what looks wrong."""

import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from robustbo.loop.cache import FitCache
from robustbo.loop.incumbent import Incumbent, incumbent, raw_incumbent
from robustbo.loop.outliers import outliers
from robustbo.report import chosen
from robustbo.report.failures import failed, lead
from robustbo.report.failures import rows as failed_rows
from robustbo.trials import worker
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

MIN_EVIDENCE = 3.0  # nats; an unflagged value of less is not worth a line
SHOWN = 20  # trials in one of the tables, the last; JSON has all
TITLES = {"pending": "being measured", "queued": "waiting for the next ask", "failed": "failed", "excluded": "excluded"}
UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def overview(settings: Settings, history: History, fits: FitCache | None = None) -> dict[str, Any]:
    """Progress, incumbent, best raw value, diagnoses, the values flagged or with `MIN_EVIDENCE` against them, and the
    trials that have no value that counts."""
    counts = history.counts()
    told, fits = counts["told"] > 0, FitCache() if fits is None else fits
    suspects = [o for o in outliers(settings, history, fits) if o.flagged or o.evidence >= MIN_EVIDENCE]
    return (
        {
            "direction": settings.direction,
            "surrogate": settings.of_size(counts["told"]).surrogate,
            "seed": settings.seed,
            "trials": counts,
            **chosen.chosen(settings, history),
            "incumbent": point(incumbent(settings, history, fits)) if told else None,
            "best_raw_value": point(raw_incumbent(settings, history)) if told else None,
            "diagnoses": [asdict(diagnosis) for diagnosis in history.diagnoses],
            "outliers": [
                {"trial": o.trial.number, "value": o.value, "expected": o.expected, "sd": o.sd}
                | {"evidence_nats": o.evidence, "flagged": o.flagged, "remeasured": o.remeasured}
                | ({} if o.weight is None else {"weight": o.weight})
                for o in suspects
            ],
            "fallbacks": [{"trial": t.number, "why": t.fallback} for t in history if t.fallback is not None],
        }
        | {state: [_without_value(trial) for trial in history.having(state)] for state in TITLES}
        | failed(settings, history, fits)
    )


def lines(name: str, found: dict[str, Any]) -> list[str]:
    """An `overview` for people, but for its diagnoses and outliers."""
    shown = [f"{name}: {how(found)}", how_far(found), *chosen.lines(found)]
    for label in ("incumbent", "best_raw_value"):
        if (best := found[label]) is not None:
            value = with_sd(best["value"], best["sd"])
            shown.append(f"{label.replace('_', ' ')}: trial {best['trial']}, {value}, at {place_of(best['params'])}")
    if found["fallbacks"]:
        last = found["fallbacks"][-1]
        shown.append(
            f"asked by a simpler surrogate: {len(found['fallbacks'])} trials, last {last['trial']} {last['why']}"
        )
    if "failures" in found:
        shown.append(lead(found["failures"]))
        if not found["trials"]["told"] + found["trials"]["excluded"] and len(found["failed"]) > 1:
            shown.append("no trial has given a value yet: it may not be the points, but what evaluates them")
    return shown


def place_of(params: dict[str, Any]) -> str:
    """A point in a line."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items())


def how(found: dict[str, Any]) -> str:
    """What an `overview` is of."""
    return f"{found['direction']} with {found['surrogate']}, seed {found['seed']}"


def how_far(found: dict[str, Any]) -> str:
    """How many trials are in which state."""
    return ", ".join(f"{count} {state}" for state, count in found["trials"].items())


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


def point(best: Incumbent) -> dict[str, Any]:
    """An incumbent as plain JSON values."""
    sd = None if math.isnan(best.sd) else best.sd
    return {"trial": best.trial.number, "value": best.mean, "sd": sd, "params": best.params}


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


def _without_value(trial: Trial) -> dict[str, Any]:
    made: dict[str, Any] = {"trial": trial.number, "params": trial.params}
    if trial.state == "pending":
        has_ended = trial.asked_by is not None and worker.is_gone(trial.asked_by)
        at = None if trial.asked_at is None else trial.asked_at.isoformat()
        return made | {"asked_by": trial.asked_by, "asked_at": at, "has_ended": has_ended, "repeats": trial.repeats}
    return made | {"value": trial.value, "sd": trial.sd} if trial.state == "excluded" else made


def _rows(state: str, trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a table says of each trial in a state, but for its point."""
    if state == "failed":
        return failed_rows(trials)
    return [{"trial": trial["trial"], **_row(state, trial)} for trial in trials]


def _row(state: str, trial: dict[str, Any]) -> dict[str, Any]:
    if state == "pending":
        return {"by": trial["asked_by"] or "unknown", "since": _ago(trial["asked_at"])}
    return {"value": with_sd(trial["value"], trial["sd"])} if state == "excluded" else {}


def _ago(at: str | None) -> str:
    if at is None:
        return "unknown"
    when = datetime.fromisoformat(at).astimezone(UTC)
    seconds = (datetime.now(UTC) - when).total_seconds()
    count = next((f"{seconds / size:.0f} {unit}" for unit, size in UNITS if seconds >= size), f"{seconds:.0f} s")
    return f"{when:%Y-%m-%d %H:%M} UTC, {count} ago"
