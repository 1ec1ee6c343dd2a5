"""Sources of measurements in words: sentences, rows of a table, and what can be done about them."""

from typing import Any

from robustbo.loop.sources.source_report import NOT_JUDGED, SHOWN, probability_text
from robustbo.report.summary.text_quantities import quantity

TITLE = "sources of measurements, the most probable error first"
HEADER = ("source", "kind", "error", "since trial", "evidence, nats", "probability", "status", "values")


def lines(overview: dict[str, Any]) -> list[str]:
    """A line each source in doubt, and each standing word of people's."""
    doubts = [report["text"] for report in overview.get("sources", ()) if report["in_doubt"]]
    return [*doubts, *(f"by your word: {text}" for text in overview.get("source_verdicts", ()))]


def rows(overview: dict[str, Any]) -> list[dict[str, Any]]:
    """A row each source of an `overview`, of those not judged the first."""
    reports = overview.get("sources", ())
    unjudged = [report for report in reports if report["status"] == NOT_JUDGED]
    return [_row(overview, report) for report in reports if report not in unjudged[SHOWN:]]


def _row(overview: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    of = quantity(overview, report.get("outcome"))
    error = "-" if report["error"] is None else f"{report['error']:+.4g}"
    error += "" if report["sd"] is None else f" +- {report['sd']:.2g}"
    beginning = "-" if report["status"] == NOT_JUDGED else "the beginning"
    since = beginning if report["since"] is None else f"{report['since']}"
    evidence, probability = report["evidence_nats"], report["probability"]
    cells = (
        name_of(report),
        report["kind"] or "-",
        of.with_unit(error),
        since,
        "-" if evidence is None else f"{evidence:.1f}",
        "-" if probability is None else probability_text(probability),
        report["status"],
    )
    row = dict(zip(HEADER, (*cells, len(report["trials"])), strict=True))
    return {"outcome": of.label, **row} if "outcome" in report else row


def name_of(report: dict[str, Any]) -> str:
    """The source of a report in words."""
    if report["level"] is None:
        return "everything"
    return report["level"] if report["source"] == "source" else f"{report['source']} {report['level']}"


def options(report: dict[str, Any]) -> list[str]:
    """The options of the command line that say which values a report is about."""
    source = [] if report["level"] is None else ["--source", f"{report['source']}={report['level']}"]
    since = [] if report["since"] is None else ["--since", str(report["since"])]
    return source + since + (["--outcome", report["outcome"]] if "outcome" in report else [])
