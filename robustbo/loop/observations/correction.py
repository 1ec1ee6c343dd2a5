"""The belief in the sources of measured values, and the correction of the values by it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robustbo.numerics.sources.errors import SourceError


@dataclass(frozen=True)
class SourceCorrection:
    """Errors of the sources of measured values, in the user's units; equal where they correct the same alike.

    Attributes:
        numbers: The trials that they concern, rising.
        errors: How much too high the value of each reads.
        shared: Of each ``k`` numbers: the part of its error that is not known, of which each column is shared, times
            its standard deviation.
        warm_start: Where a fit beside them begins.
    """

    numbers: tuple[int, ...]
    errors: tuple[float, ...]
    shared: tuple[tuple[float, ...], ...]
    warm_start: Any = field(default=None, compare=False, repr=False)

    def error_of(self, numbers: Sequence[int]) -> list[float]:
        """The errors of trials; 0 of those that they do not concern."""
        by_number = dict(zip(self.numbers, self.errors, strict=True))
        return [by_number.get(number, 0.0) for number in numbers]

    def shares_of(self, numbers: Sequence[int]) -> list[tuple[float, ...]]:
        """The shared parts of trials; zeros of those that they do not concern."""
        by_number = dict(zip(self.numbers, self.shared, strict=True))
        none = (0.0,) * len(self.shared[0])
        return [by_number.get(number, none) for number in numbers]


@dataclass(frozen=True)
class SourceBelief:
    """The belief in the sources of measured values.

    Attributes:
        numbers: The trials that count, of which the errors' rows are.
        errors: The error of each source, believed or not.
        correction: By those that are believed; None where none is.
    """

    numbers: tuple[int, ...]
    errors: tuple[SourceError, ...]
    correction: SourceCorrection | None

    def of(self, numbers: Sequence[int]) -> tuple[SourceError, ...]:
        """The errors with rows of some of the trials alone, numbered as these are."""
        place = {number: row for row, number in enumerate(numbers)}
        return tuple(_with_rows(error, [place.get(number, -1) for number in self.numbers]) for error in self.errors)


def _with_rows(error: SourceError, places: Sequence[int]) -> SourceError:
    """An error with its rows numbered anew; those at -1 are left out."""
    rows = tuple(places[row] for row in error.rows if places[row] >= 0)
    since = error.since
    if since is not None:
        since = places[since] if places[since] >= 0 else next(iter(rows), None)
    return replace(error, rows=rows, since=since)
