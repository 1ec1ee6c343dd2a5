"""An optimization at a glance, as plain JSON values: how far, what is best, what looks wrong."""

import math
from dataclasses import asdict
from typing import Any

from robustbo.outliers import outliers
from robustbo.suggest import Incumbent, incumbent, raw_incumbent
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

MIN_EVIDENCE = 3.0  # nats; an unflagged value of less is not worth a line


def overview(settings: Settings, history: History) -> dict[str, Any]:
    """Progress, incumbent, best raw value, diagnoses, and the values flagged or with `MIN_EVIDENCE` against them."""
    counts = history.counts()
    told = counts["told"] > 0
    suspects = [o for o in outliers(settings, history) if o.flagged or o.evidence >= MIN_EVIDENCE]
    return {
        "direction": settings.direction,
        "surrogate": settings.of_size(counts["told"]).surrogate,
        "seed": settings.seed,
        "trials": counts,
        "incumbent": _point(incumbent(settings, history)) if told else None,
        "best_raw_value": _point(raw_incumbent(settings, history)) if told else None,
        "diagnoses": [asdict(diagnosis) for diagnosis in history.diagnoses],
        "outliers": [
            {"trial": o.trial.number, "value": o.value, "expected": o.expected, "sd": o.sd}
            | {"evidence_nats": o.evidence, "flagged": o.flagged, "remeasured": o.remeasured}
            | ({} if o.weight is None else {"weight": o.weight})
            for o in suspects
        ],
    }


def lines(name: str, found: dict[str, Any]) -> list[str]:
    """An `overview` for people, but for its diagnoses and outliers."""
    shown = [f"{name}: {how(found)}", how_far(found)]
    for label in ("incumbent", "best_raw_value"):
        if (best := found[label]) is not None:
            place = ", ".join(f"{name}={value!r}" for name, value in best["params"].items())
            value = with_sd(best["value"], best["sd"])
            shown.append(f"{label.replace('_', ' ')}: trial {best['trial']}, {value}, at {place}")
    return shown


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


def _point(best: Incumbent) -> dict[str, Any]:
    sd = None if math.isnan(best.sd) else best.sd
    return {"trial": best.trial.number, "value": best.mean, "sd": sd, "params": best.trial.params}
