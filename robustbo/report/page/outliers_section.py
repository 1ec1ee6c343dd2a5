"""A page's section on the values that look wrong, and why."""

from collections.abc import Mapping
from html import escape
from typing import Any

from robustbo.loop.belief.outcome_models import FAILED
from robustbo.report.page.html import table
from robustbo.rounding import rounded
from robustbo.trials.outcome import Outcome

TITLE = "Values that look wrong, and why"
BEYOND_DOUBT = 1e5  # nats


def section(found: dict[str, Any], quantities: Mapping[str | None, Outcome]) -> str:
    """The section; of several outcomes, each is named.

    Args:
        found: An overview; of several outcomes its ``outliers`` have ``failed``, the probability that the trial failed
            as a whole, or None.
        quantities: What is measured: each of several outcomes by its name, or the only value under None.
    """
    if (why := found.get("not_computed", {}).get("outliers")) is not None:
        return f"<p>This could not be computed: {escape(why)}.</p>"
    if not (suspects := found["outliers"]):
        return "<p>No value looks wrong.</p>"
    lines = []
    for suspect in suspects:
        off = suspect["value"] - suspect["expected"]
        far = f"{abs(off) / suspect['sd']:.3g} standard deviations " if suspect["sd"] > 0 else ""
        why = f"{far}{'above' if off > 0 else 'below'} what the others predict"
        if (suspect.get("failed") or 0.0) > FAILED:
            why += f"; the trial failed as a whole with probability {suspect['failed']:.2g}"
        of = quantities[suspect.get("outcome")]
        expected = of.amount(suspect["expected"], suspect["sd"], digits=4)
        evidence, wrong = _nats(suspect["evidence_nats"]), f"{suspect['probability_wrong']:.2g}"
        which = [suspect["trial"], *([suspect["outcome"]] if "outcome" in suspect else [])]
        lines.append([*which, of.number(suspect["value"]), expected, evidence, wrong, suspect["status"], why])
    which = ["trial", *(["outcome"] if "outcome" in suspects[0] else [])]
    value = quantities.get(None, Outcome()).name or "value"
    header = [*which, value, "expected", "evidence, nats", "probability wrong", "status", "why"]
    note = (
        "Evidence: log-likelihood ratio, in nats, of the value having an error of its own; 5 nats: 150 times as likely."
    )
    return table(header, lines) + f"<p>{note}</p>"


def _nats(evidence: float) -> str:
    """Evidence to a tenth of a nat; what is beyond all doubt in few digits."""
    return f"{evidence:.1f}" if abs(evidence) < BEYOND_DOUBT else rounded(evidence, 3)
