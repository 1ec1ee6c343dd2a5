"""The units of a model, and observations in them.

Values enter it turned so that larger is better, shifted by their median and divided by a power of two, which is exact
in effect: differences of 1e-12, or of 1e12, are no other problem than differences of 1.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from robustbo.loop.observations.table import Observations
from robustbo.numerics.linalg.lapack import Array
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.space import Space
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

Numbers = TypeVar("Numbers", float, Tensor, Array)

SPAN = 1000  # binary orders of magnitude that may lie between a typical and the largest distance
ROUNDING = 2.0**-50  # of the center: values that differ by less are the same
MIN_SD, MAX_SD = 1e-6, 1e6  # a noise below changes nothing, above it the value tells nothing


@dataclass(frozen=True)
class Units:
    """The units of a model, in which larger is better, and those of the user: an affine map between them.

    Attributes:
        center: The value that the model sees as 0.
        scale: How much of the value is 1 to the model; a power of two, so that dividing by it loses nothing.
        sign: 1 where larger values are better, else -1.

    Example:
        >>> units = Units(3.0, 2.0, -1.0)
        >>> units.to_model(7.0), units.to_user(-2.0), units.sd_to_model(4.0)
        (-2.0, 7.0, 2.0)
    """

    center: float
    scale: float
    sign: float = 1.0

    @classmethod
    def of(cls, values: Sequence[float], sign: float = 1.0) -> "Units":
        """The units in which a model sees some values."""
        return cls(*center_and_scale(tuple(values)), sign)

    @property
    def slope(self) -> float:
        """The change of the value where the number of the model is larger by 1."""
        return self.sign * self.scale

    def to_model(self, values: Numbers) -> Numbers:
        """Values in the model's units; those that differ from the center by rounding alone are there."""
        numbers: Any = values / self.scale - self.center / self.scale
        return self.sign * (numbers * (abs(numbers) > ROUNDING * abs(self.center / self.scale)))

    def to_user(self, numbers: Numbers) -> Numbers:
        """Numbers of the model as values."""
        return self.slope * numbers + self.center

    def sd_to_model(self, sds: Numbers) -> Numbers:
        """Standard deviations, or other distances, in the model's units."""
        return sds / self.scale

    def sd_to_user(self, sds: Numbers) -> Numbers:
        """Standard deviations of the model in the units of values."""
        return self.scale * sds


def typical_distance(values: Sequence[float]) -> float:
    """The median distance from the median, which the gross ones of less than half of the values do not move.

    Example:
        >>> typical_distance([1.0, 2.0, 3.0, 4.0, 900.0])
        1.0
    """
    center = statistics.median_low(values)
    return statistics.median_low([abs(v - center) for v in values])


def center_and_scale(values: tuple[float, ...]) -> tuple[float, float]:
    """The median, and a power of two (dividing by it loses nothing) near the median distance from it.

    Where the largest distance is more than 2^`SPAN` times that, the power is larger, so that none overflows.
    """
    center = statistics.median_low(values)
    halves = sorted(abs(v / 2 - center / 2) for v in values)  # of the distances, which might overflow themselves
    rounding = ROUNDING * abs(center / 2)
    typical = next((half for half in halves[len(halves) // 2 :] if half > rounding), 0.5)
    exponent = max(math.frexp(typical)[1], math.frexp(halves[-1])[1] - SPAN) + 1
    return center, math.ldexp(1.0, min(exponent, 1023))


def robust_center_and_scale(values: Sequence[float]) -> tuple[float, float]:
    """The median and the robust standard deviation, as `RobustStandardize` has them: whatever the units are."""
    units, transform = Units.of(values), RobustStandardize(m=1)
    transform.learn(torch.tensor([[units.to_model(value)] for value in values], dtype=torch.float64))
    return units.to_user(transform.means.item()), units.sd_to_user(transform.stdvs.item())


def in_model_units(
    space: Space, told: Observations, units: Units, among: Observations | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """``n x d`` inputs, ``n`` values, larger being better, and their noise where it is known of all (`noise_parts`).

    That is relative to the spread of all values, and kept where float64 can work with it.

    Args:
        space: Where the points lie.
        told: The observations.
        units: The model's.
        among: All that the model has; the same by default.
    """
    X = encode(space, [list(row) for row in told.X])
    Y = torch.tensor([units.to_model(value) for value in told.values], dtype=torch.float64)
    if told.sds is None or told.is_mixed:
        return X, Y, None
    return X, Y, _sds_in_model_units(told.sds, told if among is None else among, units)


def noise_parts(told: Observations, units: Units, among: Observations | None = None) -> tuple[Tensor, Tensor] | None:
    """The noise of observations of which some is to be learned: ``n`` variances that are known (0 where not), in the
    model's units, and ``n`` shares of that of a single measurement (0 where it is known); None where none is known.

    The arguments are those of `in_model_units`.
    """
    if told.sds is None or not told.is_mixed:
        return None
    s = torch.tensor(told.sds, dtype=torch.float64)
    variances = _sds_in_model_units(told.sds, told if among is None else among, units).square()
    return torch.where(s < 0, 0.0, variances), torch.where(s < 0, 1 / s.abs().clamp_min(1.0), 0.0)


def noise_of_all(told: Observations, units: Units) -> tuple[Tensor, Tensor]:
    """The noise of observations, whatever is known of it: variances and shares as `noise_parts` has those of some."""
    if (parts := noise_parts(told, units)) is not None:
        return parts
    nothing = torch.zeros(len(told.values), dtype=torch.float64)
    if told.sds is None:
        return nothing, torch.ones_like(nothing)
    return _sds_in_model_units(told.sds, told, units).square(), nothing


def _sds_in_model_units(sds: Sequence[float], among: Observations, units: Units) -> Tensor:
    in_units = units.sd_to_model(torch.tensor(sds, dtype=torch.float64))
    spread = units.sd_to_model(robust_center_and_scale(among.values)[1])  # whatever the units, unlike a power of two
    return in_units.clamp(MIN_SD * spread, MAX_SD * spread)
