"""The verdicts of a surrogate that judges on a schedule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnosis:
    """The verdicts of a surrogate that judges on a schedule; see `surrogates.filtered`.

    Attributes:
        trial: The trial that was asked with it.
        observations: How many told values it judged.
        outliers: The trials that it called outliers.
        percentiles: Where each of these lies in the distribution predicted for it.
        void: Whether it called too many, so that all are used.
    """

    trial: int
    observations: int
    outliers: tuple[int, ...]
    percentiles: tuple[float, ...]
    void: bool


def diagnosis_of(event: Mapping[str, Any]) -> Diagnosis:
    """The diagnosis that an event records."""
    outliers, percentiles = (tuple(event[key]) for key in ("outliers", "percentiles"))
    return Diagnosis(event["trial"], event["observations"], outliers, percentiles, event["void"])
