"""Optuna's distributions as our parameters, and their values as ours and back."""

import math
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Parameter, Value
from robustbo.searchspace.parameters.condition import When

MOST = 2**45  # up to here an integer is one to us
EXACT = 2**53  # and up to here each is a floating-point number, as which Optuna keeps it


def parameter(distribution: BaseDistribution, when: When | None = None) -> Parameter | None:
    """The parameter of the same values, a choice by its place among the choices; None where we have none.

    Integers of which there are too many are a range of real numbers, of which `theirs` makes integers.

    Args:
        distribution: Optuna's.
        when: Where it exists.

    Example:
        >>> parameter(IntDistribution(2, 8, step=2))
        Int(low=2, high=8, log=False, step=2)
        >>> parameter(CategoricalDistribution(["adam", "sgd"]))
        Choice(0, 1)
    """
    try:
        match distribution:
            case FloatDistribution(low=low, high=high, log=log, step=step):
                return Float(low, high, log, step=step, when=when)
            case IntDistribution(low=low, high=high, log=log, step=step) if _is_wide(distribution):
                is_told = step == 1 or max(-low, high) <= EXACT
                return Float(float(low), float(high), log, when=when) if is_told else None
            case IntDistribution(low=low, high=high, log=log, step=step):
                return Int(low, high, log, step=None if step == 1 else step, when=when)
            case CategoricalDistribution(choices=choices):
                return Choice(*range(len(choices)), when=when)
    except (SpaceError, OverflowError):  # bounds or steps beyond what floating-point numbers tell apart
        return None
    return None


def ours(distribution: BaseDistribution, value: Any) -> Value:
    """A value of Optuna's as ours.

    Raises:
        ValueError: If it is none of the distribution.
    """
    internal = distribution.to_internal_repr(value)
    if not distribution._contains(internal):
        raise ValueError(f"a value must lie in {distribution}, got {value!r}")
    is_real = isinstance(distribution, FloatDistribution) or _is_wide(distribution)
    return float(internal) if is_real else int(internal)


def measured_value(distribution: BaseDistribution, value: Any) -> Value:
    """A value of Optuna's as ours, beyond its distribution too: trials may have had another range."""
    if isinstance(distribution, CategoricalDistribution):
        return ours(distribution, value)
    internal = distribution.to_internal_repr(value)
    return float(internal) if isinstance(distribution, FloatDistribution) or _is_wide(distribution) else int(internal)


def nearest(distribution: BaseDistribution, value: Value) -> Any:
    """The value of Optuna's that is nearest to a number of ours, beyond its range; None where there is none."""
    range_ = parameter(distribution)
    if range_ is None or isinstance(range_, Choice) or isinstance(value, bool | str | None):
        return None
    return theirs(distribution, range_.from_unit(range_.to_unit(value)))


def theirs(distribution: BaseDistribution, value: Value) -> Any:
    """A value of ours as Optuna's."""
    if isinstance(distribution, IntDistribution) and _is_wide(distribution):
        assert isinstance(value, float | int)
        value = _on_a_step(distribution, value)
    return distribution.to_external_repr(value)


def _is_wide(distribution: BaseDistribution) -> bool:
    return isinstance(distribution, IntDistribution) and max(-distribution.low, distribution.high) > MOST


def _on_a_step(distribution: IntDistribution, value: float) -> int:
    """The nearest integer of a distribution that is a floating-point number."""
    low, high, step = distribution.low, distribution.high, distribution.step
    steps = round((round(value) - low) / step) if step > 1 else round(value) - low
    nearest = low + min(max(steps, 0), (high - low) // step) * step
    if int(float(nearest)) == nearest:
        return nearest
    near = float(nearest)  # beyond `EXACT`, where the step is 1
    return int(near) if low <= near <= high else int(math.nextafter(near, low if near > high else high))
