"""Errors that all values of a source have in common: how large, since when, and how probable."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["offset", "step", "drift", "broken", "block"]


@dataclass(frozen=True)
class SourceError:
    """The error of one source, or of everything since a time.

    Attributes:
        source: The kind of source, as "reactor"; empty for everything since a time.
        level: Which one of that kind; None for everything since a time.
        kind: "offset" (always), "step" (since a row), "drift" (a growing error since a row), "broken" (each value has
            an error of its own) or "block" (a level's difference, nobody's fault).
        since: The row at which it begins, an index into the rows of the labels; None from the beginning.
        error: How much its values read too high, in the user's units; of a drift at its last row, of a broken source
            the standard deviation of its errors.
        sd: Standard deviation of that.
        evidence: Nats that speak for it, by the likelihood integrated over its size.
        probability: The probability that there is such an error.
        rows: The rows concerned.
        distinguishable: False where the source measured one region only, so that its error and the objective's own
            shape cannot be told apart.
        is_regional: Whether the source as a whole measured one region only, so that no error that it always had could
            be told from the objective's shape, whatever else is said of it.
    """

    source: str
    level: str | None
    kind: Kind
    since: int | None
    error: float
    sd: float
    evidence: float
    probability: float
    rows: tuple[int, ...]
    distinguishable: bool
    is_regional: bool = False
