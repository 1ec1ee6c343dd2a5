"""An optimization at a glance, as plain JSON values: how far, what is best, what looks wrong."""

import math
from dataclasses import asdict
from functools import partial
from typing import Any

from robustbo.loop.belief import front as several
from robustbo.loop.belief.incumbent import Incumbent, incumbent, raw_incumbent
from robustbo.loop.belief.outliers import Outlier, outliers
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.summary import outcomes as of_several
from robustbo.report.summary import space
from robustbo.report.summary.failures import failed
from robustbo.report.summary.outcomes import without_value
from robustbo.report.summary.text_summary import TITLES
from robustbo.searchspace.region.region import Fixed
from robustbo.trials import worker
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

MIN_EVIDENCE = 3.0  # nats; an unflagged value of less is not worth a line


def overview(settings: Settings, history: History, fits: FitCache | None = None) -> dict[str, Any]:
    """Progress, incumbent (or front), best raw value, diagnoses, the values flagged or with `MIN_EVIDENCE` against
    them, and the trials that have no value that counts; under ``not_computed`` why any of these could not be had."""
    fits = FitCache() if fits is None else fits
    report, unjudged = attempt(partial(outliers, settings, history, fits), settings.surrogate)
    outcomes = of_several.outcomes(settings, history, report, fits)
    uncomputed = ({} if unjudged is None else {"outliers": unjudged}) | outcomes.pop("not_computed", {})
    has_best = _has_raw(settings, history) and not without_value(settings, history)
    return (
        at_once(settings, history)
        | outcomes
        | {
            "incumbent": point(best(settings, history, fits)) if has_best else None,
            "outliers": [_suspect(o) for o in report or () if o.flagged or o.evidence >= MIN_EVIDENCE],
        }
        | failed(settings, history, fits)
        | ({"not_computed": uncomputed} if uncomputed else {})
    )


def at_once(settings: Settings, history: History) -> dict[str, Any]:
    """What of an `overview` needs no fit; no incumbent and no outliers."""
    counts = history.counts()
    return (
        {
            **({} if settings.outcomes else {"direction": settings.direction}),
            **({"goal": settings.goal} if settings.quantity.name else {}),
            **({"outcome": [quantity.to_dict() for quantity in settings.outcome]} if settings.outcome else {}),
            "surrogate": settings.of_size(counts["told"]).surrogate,
            "seed": settings.seed,
            "trials": counts,
            **space.chosen(settings, history),
            "incumbent": None,
            "best_raw_value": point(raw(settings, history)) if _has_raw(settings, history) else None,
            "diagnoses": [asdict(diagnosis) for diagnosis in history.diagnoses],
            "outliers": [],
            "fallbacks": [{"trial": t.number, "why": t.fallback} for t in history if t.fallback is not None],
        }
        | {state: [_without_value(trial) for trial in history.having(state)] for state in TITLES if state != "excluded"}
        | {"excluded": [each for trial in history for each in _excluded(trial)]}
    )


def _has_raw(settings: Settings, history: History) -> bool:
    """Whether there is a best measured value: of one objective that has some."""
    lacking = {*without_value(settings, history)}.intersection(name for name, _ in settings.objectives)
    return history.trials.num("told") > 0 and len(settings.objectives) < 2 and not lacking


def best(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Incumbent:
    """The incumbent: of one objective among several outcomes that which probably keeps their bounds."""
    return (several.best if settings.outcomes else incumbent)(settings, history, fits, fixed)


def raw(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value."""
    return (several.raw_best if settings.outcomes else raw_incumbent)(settings, history)


def _suspect(o: Outlier) -> dict[str, Any]:
    return (
        {"trial": o.trial.number}
        | ({} if o.outcome is None else {"outcome": o.outcome})
        | {"value": o.value, "expected": o.expected, "sd": o.sd}
        | {"evidence_nats": o.evidence, "probability_wrong": o.probability_wrong, "status": o.status}
        | {"flagged": o.flagged, "remeasured": o.remeasured}
        | ({} if o.weight is None else {"weight": o.weight})
        | ({} if o.failed is None else {"trial_failed": o.failed})
        | {"params": o.trial.params}
    )


def point(first: Incumbent) -> dict[str, Any]:
    """An incumbent as plain JSON values; of several outcomes with each of them, or (raw) with the values measured."""
    sd = None if math.isnan(first.sd) else first.sd
    made = {"trial": first.trial.number, "value": first.mean, "sd": sd, "params": first.params}
    if first.outcomes:
        said = {name: {"mean": mean, "sd": sd} for name, (mean, sd) in first.outcomes.items()}
        return made | {"outcomes": said, "probability_feasible": first.probability_feasible}
    return made | ({"values": first.trial.values} if first.trial.values else {})


def _without_value(trial: Trial) -> dict[str, Any]:
    made: dict[str, Any] = {"trial": trial.number, "params": trial.params}
    if trial.state == "pending":
        has_ended = trial.asked_by is not None and worker.is_gone(trial.asked_by)
        at = None if trial.asked_at is None else trial.asked_at.isoformat()
        return made | {"asked_by": trial.asked_by, "asked_at": at, "has_ended": has_ended, "repeats": trial.repeats}
    return made


def _excluded(trial: Trial) -> list[dict[str, Any]]:
    """What is excluded of a trial: its value, or those of several outcomes."""
    seen = {name: trial.of(name) for name in trial.outcomes} or {"": trial}
    return [
        {"trial": trial.number, "params": trial.params}
        | ({"outcome": name} if name else {})
        | {"value": each.value, "sd": each.sd, "reason": each.note}
        for name, each in seen.items()
        if each.state == "excluded"
    ]
