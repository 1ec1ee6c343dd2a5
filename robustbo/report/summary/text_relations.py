"""Sources beside the target in words: sentences, and rows of a table."""

from typing import Any

from robustbo.report.summary.text_quantities import quantity
from robustbo.rounding import format_number

TITLE = "other sources, by what they say of the target"
UNKNOWN = "-"


def lines(overview: dict[str, Any]) -> list[str]:
    """A sentence a source beside the target, of an `overview`."""
    return [report["text"] for report in overview.get("relations", ())]


def rows(overview: dict[str, Any]) -> list[dict[str, Any]]:
    """A row a source beside the target, of an `overview`; of several outcomes, a row for each."""
    return [_row(overview, report) for report in overview.get("relations", ())]


def _row(overview: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    of, declared = quantity(overview, report.get("outcome")), overview["declared"][report["source"]]
    row = {
        "source": report["source"],
        "relation": report["relation"] or "not known yet",
        "probability": _number(report["probabilities"].get(report["relation"]), ".2f"),
        "higher by": _amount(report, "b", of.with_unit),
        "factor": _amount(report, "rho"),
        "bias, sd": _amount(report, "omega", of.with_unit),
        "nats": _number(report["evidence_nats"], ".1f"),
        "cost": f"{declared.get('cost', 1.0):.3g}" if declared.get("ask", True) else "not asked",
        "spent": f"{report['cost']:.3g}",
        "values": len(report["trials"]),
        "wrong": ", ".join(map(str, report["wrong"])) or UNKNOWN,
    }
    return {"outcome": of.label, **row} if "outcome" in report else row


def _amount(report: dict[str, Any], name: str, with_unit: Any = str) -> str:
    """A number of a report with its standard deviation; one that is fixed without."""
    number, sd = report[name], report[f"{name}_sd"]
    if number is None or report["relation"] is None:
        return UNKNOWN
    if not sd:
        return f"{number:g}"
    return str(with_unit(f"{format_number(number, 3, sd)} +- {sd:.2g}"))


def _number(number: float | None, spec: str) -> str:
    return UNKNOWN if number is None else format(number, spec)
