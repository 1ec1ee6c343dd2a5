"""The part of an overview that is about sources of measurements; nothing where nobody told one."""

import math
from typing import Any

from robustbo.loop.sources.source_report import SourceReport
from robustbo.loop.surrogate.attempt import attempt
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.trials.verdicts import standing
from robustbo.view.view import View


def source_values(view: View) -> dict[str, Any]:
    """Reports on the sources, and words of people on them, as plain JSON values; or why there are no reports."""
    if not has_sources(view):
        return {}
    reports, reason = attempt(view.sources, view.settings.surrogate)
    values = {"sources": [_report_values(report) for report in reports or ()]}
    words = [verdict.text for verdict in standing(view.history.verdicts)]
    return values | ({"source_verdicts": words} if words else {}) | ({} if reason is None else {"uncomputed": reason})


def has_sources(view: View) -> bool:
    """Return whether the source of any value was told, or people have spoken of all values since a trial."""
    declared = {DEFAULT_KIND} if view.settings.sources else set()
    return bool(view.history.verdicts) or any(trial.sources.keys() - declared for trial in view.history)


def _report_values(report: SourceReport) -> dict[str, Any]:
    at = None if report.since_at is None else report.since_at.isoformat()
    return (
        ({} if report.outcome is None else {"outcome": report.outcome})
        | {"source": report.source, "level": report.level, "kind": report.kind}
        | {"error": _finite(report.error), "sd": _finite(report.sd), "since": report.since, "since_at": at}
        | {"evidence_nats": _finite(report.evidence), "probability": _finite(report.probability)}
        | {"status": report.status, "in_doubt": report.is_doubtful, "trials": [*report.trials], "text": report.text}
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
