"""States of right and wrong values in the exact reference, with prior probabilities, to be put together at will."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import betaln, logsumexp

from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES, NUM_RIGHT, log_odd
from robustbo.numerics.belief.gibbs import PRIOR_WEIGHT

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
        log_prior: Log prior probability that certain values are in certain states, by how many are in each; the shares
            of the states are a factor of their own.
    """

    states: tuple[State, ...]
    log_prior: Callable[[Sequence[int]], float]


def log_cauchy(z: Array, width: float = 1.0) -> Array:
    """Log density of wrong values, in the outcomes' robust standard deviations."""
    return -np.log(math.pi * width * (1 + (z / width) ** 2))


def fixed_rate(rate: float) -> Callable[[Sequence[int]], float]:
    """The prior of sets where the rate is known; the last state is the wrong one."""
    return lambda counts: counts[-1] * math.log(rate) + sum(counts[:-1]) * math.log1p(-rate)


def beta_rate(a: float, b: float) -> Callable[[Sequence[int]], float]:
    """The prior of sets where the rate has a Beta prior, integrated."""
    return lambda counts: float(betaln(a + counts[-1], b + sum(counts[:-1])) - betaln(a, b))


def belief(rate: float) -> ErrorModel:
    """The default's account of a value (equations.md 19): Student-t noise of unknown degrees of freedom, or odd.

    A value with the widest noise counts as wrong, as it does at rates of a tenth or more.
    """
    odd = State(1.0, math.inf, lambda z: log_odd(torch.from_numpy(z), torch.ones(len(z)).double())[0].numpy(), True)
    of_rate = beta_rate(PRIOR_WEIGHT * rate, PRIOR_WEIGHT * (1 - rate))

    def log_prior(counts: Sequence[int]) -> float:
        by_dof = LOG_SHARES @ np.array(counts[:-1])
        return of_rate(counts) + float(logsumexp(by_dof)) - math.log(len(LOG_SHARES))

    noises = (State(multiplier=w, is_wrong=k >= NUM_RIGHT) for k, w in enumerate(MULTIPLES.tolist()))
    return ErrorModel((*noises, odd), log_prior)


def error_model(
    log_prior: Callable[[int, int], float],
    multipliers: Sequence[float] = (1.0,),
    shares: Sequence[float] = (1.0,),
    width: float = 1.0,
) -> ErrorModel:
    """Right values with a discrete scale mixture of normals, wrong ones with a Cauchy density of some width."""
    right = tuple(State(share, w) for share, w in zip(shares, multipliers, strict=True))
    return ErrorModel((*right, State(1.0, math.inf, partial(log_cauchy, width=width), True)), log_prior)
