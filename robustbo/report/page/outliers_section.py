"""A page's section on the values that look wrong, and why."""

from typing import Any, NamedTuple

from robustbo.censored import from_json
from robustbo.loop.belief.outcome_models import FAILED
from robustbo.report.page.table import Table
from robustbo.report.summary.names import title
from robustbo.report.summary.text_summary import verdict_row
from robustbo.rounding import format_number
from robustbo.trials.labels import NAME
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings

BEYOND_DOUBT = 1e5  # nats


class OutliersSection(NamedTuple):
    """The section: a row a value, and a row a diagnosis; or the reason why no surrogate could judge the values.

    And a sentence a pattern of the flagged ones.
    """

    table: Table | None
    diagnoses: Table | None
    reason: str | None
    patterns: list[str]


def outliers_section(settings: Settings, overview: dict[str, Any]) -> OutliersSection:
    """The section; of several outcomes, each is named.

    Args:
        settings: What the optimization was told at its beginning.
        overview: Of it.
    """
    rows = [verdict_row(diagnosis) for diagnosis in overview["diagnoses"]]
    diagnoses = Table([*rows[0]], [[*row.values()] for row in rows]) if rows else None
    reason = overview.get("not_computed", {}).get("outliers")
    outliers, quantities = overview["outliers"], settings.quantities
    if reason is not None or not outliers:
        return OutliersSection(None, diagnoses, reason, [])
    outcome = ["outcome"] if "outcome" in outliers[0] else []
    value = quantities.get(None, Outcome()).name or "value"
    header = ["trial", *outcome, value, "expected", "evidence, nats", "probability wrong", "status", "why"]
    table = Table(header, [_row(outlier, quantities[outlier.get("outcome")]) for outlier in outliers])
    return OutliersSection(table, diagnoses, None, [pattern["text"] for pattern in overview["flag_patterns"]])


def _row(outlier: dict[str, Any], quantity: Outcome) -> list[Any]:
    value = from_json(outlier["value"])
    difference = value - outlier["expected"]
    distance = f"{abs(difference) / outlier['sd']:.3g} standard deviations " if outlier["sd"] > 0 else ""
    reason = f"{distance}{'above' if difference > 0 else 'below'} what the others predict"
    if (probability := outlier.get("trial_failed") or 0.0) > FAILED:
        reason += f"; the trial failed as a whole with probability {probability:.2g}"
    expected = quantity.amount(outlier["expected"], outlier["sd"], digits=4)
    evidence, wrong = _nats(outlier["evidence_nats"]), f"{outlier['probability_wrong']:.2g}"
    number = outlier["trial"] if NAME not in outlier.get("labels", {}) else title(outlier)
    keys = [number, *([outlier["outcome"]] if "outcome" in outlier else [])]
    return [*keys, quantity.number(value, sd=outlier["sd"]), expected, evidence, wrong, outlier["status"], reason]


def _nats(evidence: float) -> str:
    """Evidence to a tenth of a nat; what is beyond all doubt in few digits."""
    return f"{evidence:.1f}" if abs(evidence) < BEYOND_DOUBT else format_number(evidence, 3)
