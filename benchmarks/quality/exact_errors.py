"""States of right and wrong values in the exact reference, with prior probabilities, to be put together at will."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import betaln

Array = np.ndarray
LogDensity = Callable[[Array], Array]


class State(NamedTuple):
    """State of a value: what it can be.

    Attributes:
        share: Prior probability among the right states, or among the wrong ones.
        multiplier: Of the noise variance; infinite where the value says nothing of the function.
        log_density: Of such values.
        is_wrong: Whether it is an error.
    """

    share: float = 1.0
    multiplier: float = 1.0
    log_density: LogDensity | None = None
    is_wrong: bool = False


class ErrorModel(NamedTuple):
    """Model of right and wrong values.

    Attributes:
        states: The first is the plain right one, whose multiplier is 1.
        log_prior: Log prior probability that certain k of n values, and no others, are wrong.
    """

    states: tuple[State, ...]
    log_prior: Callable[[int, int], float]


def log_cauchy(z: Array, width: float = 1.0) -> Array:
    """Log density of wrong values, in the outcomes' robust standard deviations."""
    return -np.log(math.pi * width * (1 + (z / width) ** 2))


def fixed_rate(rate: float) -> Callable[[int, int], float]:
    """The prior of sets where the rate is known."""
    return lambda k, n: k * math.log(rate) + (n - k) * math.log1p(-rate)


def beta_rate(a: float, b: float) -> Callable[[int, int], float]:
    """The prior of sets where the rate has a Beta prior, integrated."""
    return lambda k, n: float(betaln(a + k, b + n - k) - betaln(a, b))


def error_model(
    log_prior: Callable[[int, int], float],
    multipliers: Sequence[float] = (1.0,),
    shares: Sequence[float] = (1.0,),
    width: float = 1.0,
) -> ErrorModel:
    """Right values with a discrete scale mixture of normals, wrong ones with a Cauchy density of some width."""
    right = tuple(State(share, w) for share, w in zip(shares, multipliers, strict=True))
    return ErrorModel((*right, State(1.0, math.inf, partial(log_cauchy, width=width), True)), log_prior)
