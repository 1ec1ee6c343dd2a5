"""The noise of a value as it is told and recorded: its standard deviation, and of how many measurements it is the mean.

In a journal the noise of a mean is a text, "0.2/4" or "/4" where no standard deviation is known, so that versions that
know no means refuse it.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from robustbo.validation import whole_number

PATTERN = r"^([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)?/[1-9][0-9]{0,8}$"

Count = int | Mapping[str, int | None]  # of several outcomes by name


class ValueNoise(NamedTuple):
    """The noise of a value.

    Attributes:
        sd: Standard deviation of the value's noise, that of a mean; None where it is not known.
        n: Of how many measurements it is the mean.
    """

    sd: float | None
    n: int = 1

    @classmethod
    def of(cls, entry: float | str | None) -> "ValueNoise":
        """The noise that an event records.

        Example:
            >>> ValueNoise.of("0.2/4"), ValueNoise.of("/4")
            (ValueNoise(sd=0.1, n=4), ValueNoise(sd=None, n=4))
        """
        if not isinstance(entry, str):
            return cls(entry)
        sd, _, n = entry.partition("/")
        return cls(float(sd) / math.sqrt(int(n)) if sd else None, int(n))  # eq. 6.21


def noise_entry(sd: float | None, n: int | None) -> float | str | None:
    """The noise of a mean of ``n`` measurements of this standard deviation each, as an event records it."""
    return sd if n in (None, 1) else f"{'' if sd is None else repr(float(sd))}/{n}"


class Noisy(Protocol):
    """A value with its noise, as a trial or an outcome of one has it."""

    @property
    def sd(self) -> float | None:
        """Standard deviation of the value's noise."""

    @property
    def n(self) -> int:
        """The number of measurements that it is the mean of."""


def single_noise(measured: Noisy) -> ValueNoise:
    """The noise as it was told: the standard deviation of a single measurement, and how many there were."""
    sd, n = measured.sd, measured.n
    return ValueNoise(sd if sd is None or n == 1 else sd * math.sqrt(n), n)


def count_of(n: Any, name: str | None = None) -> int | None:
    """The number of measurements, checked, of the only outcome or of one of several.

    Raises:
        ValueError, TypeError: If it is no whole number of at least 1.
    """
    number = n.get(name) if isinstance(n, Mapping) else n  # one number is that of each outcome
    return None if number is None else whole_number("n", number, 1)
