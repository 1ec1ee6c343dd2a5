"""Optuna's distributions as our parameters, and their values as ours and back."""

from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Parameter, Value
from robustbo.searchspace.parameters.condition import When


def parameter(distribution: BaseDistribution, when: When | None = None) -> Parameter | None:
    """The parameter of the same values, a choice by its place among the choices; None where we have none.

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
            case IntDistribution(low=low, high=high, log=log, step=step):
                return Int(low, high, log, step=None if step == 1 else step, when=when)
            case CategoricalDistribution(choices=choices):
                return Choice(*range(len(choices)), when=when)
    except SpaceError:  # bounds or steps beyond what floating-point numbers tell apart
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
    return float(internal) if isinstance(distribution, FloatDistribution) else int(internal)


def theirs(distribution: BaseDistribution, value: Value) -> Any:
    """A value of ours as Optuna's."""
    return distribution.to_external_repr(value)
