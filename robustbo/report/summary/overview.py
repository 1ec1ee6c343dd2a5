"""An optimization at a glance, as plain JSON values: how far, what is best, what looks wrong."""

import math
from dataclasses import asdict
from typing import Any

from robustbo.censored import to_json
from robustbo.loop.belief.flag_patterns import FlagPattern
from robustbo.loop.belief.outliers import Outlier
from robustbo.loop.best.incumbent import Incumbent
from robustbo.loop.surrogate.attempt import attempt
from robustbo.report.summary import outcomes, space
from robustbo.report.summary.failures import failure_values
from robustbo.report.summary.names import labels_part
from robustbo.report.summary.relations import relation_values
from robustbo.report.summary.sources import source_values
from robustbo.report.summary.text_summary import TITLES
from robustbo.trials import worker
from robustbo.trials.history import Trial
from robustbo.trials.settings import Settings
from robustbo.view.view import View

MIN_EVIDENCE = 3.0  # nats; an unflagged value of less is not worth a line


def overview(view: View) -> dict[str, Any]:
    """Progress, incumbent (or front), best raw value, diagnoses, the values flagged or with `MIN_EVIDENCE` against
    them, and the trials that have no value that counts; ``not_computed`` says why any could not be had.
    """
    outliers, reason = attempt(view.outliers, view.settings.surrogate)
    of_outcomes = outcomes.outcome_values(view, outliers)
    uncomputed = ({} if reason is None else {"outliers": reason}) | of_outcomes.pop("not_computed", {})
    of_sources, of_relations = source_values(view), relation_values(view)
    uncomputed |= {"relations": of_relations.pop("uncomputed")} if "uncomputed" in of_relations else {}
    uncomputed |= {"sources": of_sources.pop("uncomputed")} if "uncomputed" in of_sources else {}
    has_best = len(view.settings.objectives) < 2 and view.is_measured
    doubtful = [o for o in outliers or () if o.flagged or o.evidence >= MIN_EVIDENCE]
    return (
        at_once(view)
        | of_outcomes
        | {
            "incumbent": point(view.best()) if has_best else None,
            "outliers": [_outlier_values(outlier) for outlier in doubtful],
            "flag_patterns": [_pattern_values(pattern) for pattern in view.flag_patterns()] if outliers else [],
        }
        | failure_values(view)
        | of_sources
        | of_relations
        | ({"not_computed": uncomputed} if uncomputed else {})
    )


def at_once(view: View) -> dict[str, Any]:
    """The part of an `overview` that needs no fit; no incumbent and no outliers."""
    settings, history = view.settings, view.history
    counts = history.counts()
    return (
        {
            **({} if settings.outcomes else {"direction": settings.direction}),
            **({"goal": settings.goal} if settings.quantity.name else {}),
            **({"outcome": [quantity.to_dict() for quantity in settings.outcome]} if settings.outcome else {}),
            "surrogate": settings.of_size(counts["told"]).surrogate,
            "seed": settings.seed,
            "trials": counts,
            **space.space_values(view),
            "incumbent": None,
            "best_raw_value": point(view.raw_best()) if _has_raw_best(view) else None,
            "diagnoses": [asdict(diagnosis) for diagnosis in history.diagnoses],
            "outliers": [],
            "flag_patterns": [],
            "fallbacks": [{"trial": t.number, "why": t.fallback} for t in history if t.fallback is not None],
        }
        | {state: [_trial_values(settings, t) for t in history.having(state)] for state in _states_to_list(counts)}
        | {"excluded": [row for trial in history for row in _exclusions(trial)]}
    )


def _states_to_list(counts: dict[str, int]) -> list[str]:
    """The states whose trials are listed, withdrawn ones where there are some."""
    return [state for state in TITLES if state in counts and state != "excluded"]


def _has_raw_best(view: View) -> bool:
    """Return whether there is a best measured value: of one objective that has values."""
    settings = view.settings
    missing = {*view.unmeasured_outcomes()}.intersection(name for name, _ in settings.objectives)
    return view.of_target.trials.num("told") > 0 and len(settings.objectives) < 2 and not missing


def _outlier_values(o: Outlier) -> dict[str, Any]:
    return (
        {"trial": o.trial.number}
        | ({} if o.outcome is None else {"outcome": o.outcome})
        | {"value": to_json(o.value), "expected": o.expected, "sd": o.sd}
        | {"evidence_nats": o.evidence, "probability_wrong": o.probability_wrong, "status": o.status}
        | {"flagged": o.flagged, "remeasured": o.remeasured}
        | ({} if o.weight is None else {"weight": o.weight})
        | ({} if o.failed is None else {"trial_failed": o.failed})
        | {"params": o.trial.params}
        | labels_part(o.trial)
    )


def _pattern_values(pattern: FlagPattern) -> dict[str, Any]:
    outcome = {} if pattern.outcome is None else {"outcome": pattern.outcome}
    return outcome | {"kind": pattern.kind, "probability": pattern.probability, "text": f"{pattern}"}


def point(incumbent: Incumbent) -> dict[str, Any]:
    """An incumbent as plain JSON values; of several outcomes with each of them, or (raw) with the values measured."""
    sd = None if math.isnan(incumbent.sd) else incumbent.sd
    value = to_json(incumbent.mean)  # the raw best may be a bound
    values = {"trial": incumbent.trial.number, "value": value, "sd": sd, "params": incumbent.params}
    values |= labels_part(incumbent.trial)
    if incumbent.outcomes:
        posteriors = {name: {"mean": mean, "sd": sd} for name, (mean, sd) in incumbent.outcomes.items()}
        return values | {"outcomes": posteriors, "probability_feasible": incumbent.probability_feasible}
    measured = {name: to_json(number) for name, number in incumbent.trial.values.items()}
    return values | ({"values": measured} if measured else {})


def _trial_values(settings: Settings, trial: Trial) -> dict[str, Any]:
    """A trial that has no value."""
    values: dict[str, Any] = {"trial": trial.number, "params": trial.params} | labels_part(trial)
    values |= {"source": trial.source} if settings.sources else {}
    if trial.state == "withdrawn":
        return values | {"reason": trial.reason}
    if trial.state == "pending":
        has_ended = trial.asked_by is not None and worker.is_gone(trial.asked_by)
        at = None if trial.asked_at is None else trial.asked_at.isoformat()
        return values | {"asked_by": trial.asked_by, "asked_at": at, "has_ended": has_ended, "repeats": trial.repeats}
    return values


def _exclusions(trial: Trial) -> list[dict[str, Any]]:
    """The values of a trial that are excluded: its only one, or those of several outcomes."""
    by_outcome = {name: trial.of(name) for name in trial.outcomes} or {"": trial}
    return [
        {"trial": trial.number, "params": trial.params}
        | labels_part(trial)
        | ({"outcome": name} if name else {})
        | {"value": to_json(measured.measured), "sd": measured.sd, "reason": measured.note}
        for name, measured in by_outcome.items()
        if measured.state == "excluded"
    ]
