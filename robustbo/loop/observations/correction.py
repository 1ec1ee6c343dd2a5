"""The belief in the sources of measured values, and the correction of the values by it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

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


class SourceShift(NamedTuple):
    """The error that a value has by its source, in the user's units.

    Attributes:
        mean: How much too high it reads.
        sd: Standard deviation of that.
    """

    mean: float
    sd: float


@dataclass(frozen=True)
class SourceBelief:
    """The belief in the sources of measured values.

    Attributes:
        numbers: The trials that count, of which the errors' rows are.
        errors: The error of each source: those that are believed first.
        correction: By those that are believed; None where none is.
        num_believed: How many are.
    """

    numbers: tuple[int, ...]
    errors: tuple[SourceError, ...]
    correction: SourceCorrection | None
    num_believed: int = 0

    def of(self, numbers: Sequence[int]) -> tuple[SourceError, ...]:
        """The errors with rows of some of the trials alone, numbered as these are."""
        place = {number: row for row, number in enumerate(numbers)}
        return tuple(_with_rows(error, [place.get(number, -1) for number in self.numbers]) for error in self.errors)

    def shift_at(self, by: Mapping[str, str]) -> SourceShift | None:
        """The error that the next value of a source has, by what is believed; None where that is nothing.

        Args:
            by: The label of each kind of source that will measure it.
        """
        shifts = [_shift(error) for error in self.errors[: self.num_believed] if by and _concerns(error, by)]
        shifts += self._shifts_of_new_levels(by)
        if not shifts:
            return None
        return SourceShift(math.fsum(mean for mean, _ in shifts), math.hypot(*(sd for _, sd in shifts)))

    def _shifts_of_new_levels(self, by: Mapping[str, str]) -> list[SourceShift]:
        """The errors of levels that are new, as a plate, of kinds whose levels differ: as large as the others' are."""
        sizes: dict[str, list[float]] = {}
        blocks = [error for error in self.errors[: self.num_believed] if error.kind == "block"]
        for error in blocks:
            sizes.setdefault(error.source, []).append(math.hypot(error.error, error.sd))
        old = {(error.source, error.level) for error in blocks}
        new = [sizes[kind] for kind, level in by.items() if kind in sizes and (kind, level) not in old]
        return [SourceShift(0.0, math.hypot(*of_kind) / math.sqrt(len(of_kind))) for of_kind in new]


def _concerns(error: SourceError, by: Mapping[str, str]) -> bool:
    """Return whether an error is one of a source, or of everything by now."""
    return error.level is None or by.get(error.source) == error.level


def _shift(error: SourceError) -> SourceShift:
    """The error of one value more: of a broken source nobody knows which way it goes."""
    return SourceShift(0.0, error.error) if error.kind == "broken" else SourceShift(error.error, error.sd)


def _with_rows(error: SourceError, places: Sequence[int]) -> SourceError:
    """An error with its rows numbered anew; those at -1 are left out."""
    rows = tuple(places[row] for row in error.rows if places[row] >= 0)
    since = error.since
    if since is not None:
        since = places[since] if places[since] >= 0 else next(iter(rows), None)
    return replace(error, rows=rows, since=since)
