"""The values that a surrogate is fitted to, with their points and what is known of their noise: frozen, hashable."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from robustbo.censored import is_bound
from robustbo.loop.observations.auxiliary import AuxiliaryObservations, Row
from robustbo.loop.observations.correction import SourceCorrection
from robustbo.loop.observations.digest import own_order


class Observations(NamedTuple):
    """Values that a surrogate is fitted to, with their points; hashable.

    Attributes:
        numbers: The trials, in their order or in the observations' own.
        X: One row of unit-cube coordinates each.
        values: The measured values, in the user's units; a bound is a `robustbo.censored.CensoredValue`.
        sds: Their noise, or None where it is to be inferred for all, each being one measurement. Where it is known for
            some, that of the others is minus the number of measurements that they are the mean of (`is_mixed`).
        vouched: Those for whose values the user vouches.
        correction: By which the values are corrected; None where they are as they were told.
        beside: Values of other sources, which the surrogate also learns from.
    """

    numbers: tuple[int, ...]
    X: tuple[Row, ...]
    values: tuple[float, ...]
    sds: tuple[float, ...] | None
    vouched: frozenset[int] = frozenset()
    correction: SourceCorrection | None = None
    beside: AuxiliaryObservations | None = None

    @property
    def bounds(self) -> tuple[int, ...]:
        """The indices of those that were told as bounds: `robustbo.censored.CensoredValue`."""
        return tuple(i for i, value in enumerate(self.values) if is_bound(value))

    @property
    def is_mixed(self) -> bool:
        """Return whether the noise of some is to be learned, beside that of others or as that of means."""
        return self.sds is not None and any(sd < 0 for sd in self.sds)

    def with_inferred_noise(self) -> "Observations":
        """The observations with all noise to be inferred, whatever is known of it."""
        return self._replace(sds=None)

    @property
    def bound_numbers(self) -> frozenset[int]:
        """The trials that were told as bounds."""
        return frozenset(self.numbers[i] for i in self.bounds)

    def first(self, count: int) -> "Observations":
        """The first ``count`` of them."""
        return self.take(range(min(count, len(self.numbers))))

    def in_own_order(self, sign: float) -> "Observations":
        """The observations in an order that follows from what they are, whatever that of the trials is.

        It is that of a hash of their points, and at one point of the ranks of their values: so the first of them are a
        fair sample, in which those at one point stand together. Observations that are the same in all are so in the
        order of trials.

        Args:
            sign: 1 where larger values are better, else -1.
        """
        sds = (0.0,) * len(self.values) if self.sds is None else self.sds
        is_vouched = [number in self.vouched for number in self.numbers]
        values = (sign * value for value in self.values)
        return self.take(own_order(self.X, [*zip(values, sds, is_vouched, self.numbers, strict=True)]))

    def without(self, numbers: Collection[int]) -> "Observations":
        """The observations of all but some trials."""
        return self.take([i for i, number in enumerate(self.numbers) if number not in numbers])

    def of(self, numbers: Collection[int]) -> "Observations":
        """The observations of some trials."""
        return self.take([i for i, number in enumerate(self.numbers) if number in numbers])

    def take(self, indices: Sequence[int]) -> "Observations":
        """The observations at some indices."""
        numbers = tuple(self.numbers[i] for i in indices)
        return Observations(
            numbers,
            tuple(self.X[i] for i in indices),
            tuple(self.values[i] for i in indices),
            None if self.sds is None else tuple(self.sds[i] for i in indices),
            self.vouched.intersection(numbers),
            self.correction,
            self.beside,
        )

    def with_correction(self, correction: SourceCorrection) -> "Observations":
        """The observations as they would be without the errors of their sources; bounds stay as they are."""
        errors = correction.error_of(self.numbers)
        values = tuple(v if is_bound(v) else v - e for v, e in zip(self.values, errors, strict=True))
        return self._replace(values=values, correction=correction)
