"""The part of an overview that is about sources beside the target; nothing where none was declared."""

import math
from typing import Any

from robustbo.loop.sources.relations import RelationReport
from robustbo.loop.surrogate.attempt import attempt
from robustbo.view.view import View

NUMBERS = ("b", "b_sd", "rho", "rho_sd", "omega", "omega_sd")


def relation_values(view: View) -> dict[str, Any]:
    """Reports on the sources beside the target as plain JSON values, and all that are declared; or why there are none.

    ``uncomputed`` says why.
    """
    if not view.settings.sources:
        return {}
    reports, reason = attempt(view.relations, view.settings.surrogate)
    values = {
        "declared": {name: source.to_dict() for name, source in view.settings.sources},
        "relations": [_report_values(report) for report in reports or ()],
    }
    return values | ({} if reason is None else {"uncomputed": reason})


def _report_values(report: RelationReport) -> dict[str, Any]:
    return (
        ({} if report.outcome is None else {"outcome": report.outcome})
        | {"source": report.source, "relation": report.relation or None}
        | {"probabilities": {relation: chance for relation, chance in report.probabilities.items()}}
        | {name: _finite(getattr(report, name)) for name in NUMBERS}
        | {"evidence_nats": _finite(report.evidence), "cost": report.cost}
        | {"trials": [*report.trials], "wrong": [*report.wrong], "text": report.text}
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
