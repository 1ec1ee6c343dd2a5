"""One sweep of a Gibbs chain: the state of each observation is drawn in turn, given all others'.

What is done for one observation is a handful of numbers, so they are Python's own: an array's overhead would be most of
the time.

References:
    docs/equations.md (19.3).
"""

from collections.abc import Sequence
from math import exp, inf, log, pi
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.predictions import SweepDraws
from robustbo.numerics.linalg.lapack import Array

ODD = len(MULTIPLES)  # the state of an observation that is not right; those of right ones are their noise's
# What is in doubt of an observation: nothing (it is right, no noisier than most), its noise, or whether it is right.
# What the rest predicts of the first is weighted as if its noise were in doubt, so that no draw counts for too much.
NONE, OF_NOISE, OF_VALUE = range(3)
HALF_LOG_2PI = 0.5 * log(2 * pi)
HUGE = 1e300  # a squared error that is as good as infinite


class SingleChain(Protocol):
    """The sides of observations, and what the right ones predict."""

    def leave_one_out(self, i: int) -> tuple[float, float]:
        """Observation i less what the right ones but itself predict, and the variance of that prediction."""

    def move(self, i: int, s2: float | None) -> None:
        """Let an observation be right with some noise variance, or odd (None)."""


class Conditions(NamedTuple):
    """Conditions of a sweep: how the observations are distributed given what the right ones predict.

    Attributes:
        s2: ``n`` noise variances.
        log_shares: ``3`` logarithms of the shares of its multiples.
        log_odds: ``n`` logarithms of the densities of odd observations, times the odds of the rate.
        doubt: ``n`` integers: `NONE`, `OF_NOISE` or `OF_VALUE`.
        most: How many may be odd at once.
        silent: How much of the widest noise says nothing, see `densities.silent_share`.
    """

    s2: Array
    log_shares: Array
    log_odds: Array
    doubt: NDArray[np.intp]
    most: int
    silent: float


def sweep_chain(
    chain: SingleChain, state: NDArray[np.intp], conditions: Conditions, order: Sequence[int], u: Sequence[float]
) -> SweepDraws:
    """Draw the state of each observation, in place; what was found of each, with predictions as errors.

    Args:
        chain: The chain.
        state: ``n`` integers, as in `gibbs.States`.
        conditions: The conditions.
        order: ``n`` observations in the order in which they are drawn.
        u: Uniform numbers that the draws are made with, in this order.
    """
    n, states = len(order), state.tolist()
    q, errors, latent, log_totals = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
    s2, (share_0, share_1, share_2) = conditions.s2.tolist(), (conditions.log_shares - HALF_LOG_2PI).tolist()
    log_odds, doubt = conditions.log_odds.tolist(), conditions.doubt.tolist()
    m_0, m_1, m_2 = multiples = MULTIPLES.tolist()
    num_odd = states.count(ODD)
    for i, threshold in zip(order, u, strict=True):
        e, v = chain.leave_one_out(i)
        square, noise, old = min(e * e, HUGE), s2[i], states[i]
        w_0, w_1, w_2 = v + m_0 * noise, v + m_1 * noise, v + m_2 * noise
        h_0 = share_0 - 0.5 * (log(w_0) + square / w_0)
        h_1 = share_1 - 0.5 * (log(w_1) + square / w_1)
        h_2 = share_2 - 0.5 * (log(w_2) + square / w_2)
        h_3 = log_odds[i] if doubt[i] == OF_VALUE and num_odd - (old == ODD) < conditions.most else -inf
        highest = max(h_0, h_1, h_2, h_3)
        p_0, p_1, p_2, p_3 = exp(h_0 - highest), exp(h_1 - highest), exp(h_2 - highest), exp(h_3 - highest)
        total = p_0 + p_1 + p_2 + p_3
        errors[i], latent[i], log_totals[i], new = e, v, highest + log(total), 0
        if doubt[i] != NONE:
            q[i] = (conditions.silent * p_2 + p_3) / total if doubt[i] == OF_VALUE else 0.0  # eq. 19.13
            threshold *= total
            new = (threshold > p_0) + (threshold > p_0 + p_1) + (threshold > p_0 + p_1 + p_2)  # eq. 19.3
        if new != old:
            num_odd += (new == ODD) - (old == ODD)
            chain.move(i, None if new == ODD else noise * multiples[new])
            states[i] = new
    state[:] = states
    return SweepDraws(*map(np.array, (q, errors, latent, log_totals)))
