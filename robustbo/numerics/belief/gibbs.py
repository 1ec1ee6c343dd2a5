"""Probability that each observation is wrong, by sampling over all sets of wrong ones, their noise, and its parameters.

An observation is right, and is the latent value with noise, or it is odd, says nothing of the latent value, and has a
wide density (`densities`). Any set of at most half of them may be odd. Given the others, whether one is, and else how
noisy, has closed-form odds. A sweep draws each in turn, then what the states tell of: how many are odd, the degrees of
freedom of the noise, and the hyperparameters. What is averaged are probabilities, not draws (Rao and Blackwell's
estimate).

Notation (no batch dimensions: a chain is one chain):
    K     n x n   covariance of the latent values
    r     n       observations less the mean
    s2    n       noise variances
    e, v          an observation less what the right ones (but itself) predict for it, and that prediction's variance
    q             probability that it is odd, given the others

References:
    Verdinelli and Wasserman (1991), Bayesian analysis of outlier problems using the Gibbs sampler;
    Gelfand and Smith (1990), Sampling-based approaches to calculating marginal densities, section 2.4;
    docs/equations.md section 19.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.belief.chain import Chain
from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES, silent_share
from robustbo.numerics.belief.predictions import Predictions, SweepDraws
from robustbo.numerics.belief.sweep import NONE, ODD, OF_VALUE, Conditions, sweep_chain
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

SWEEPS, BURN_IN = 12, 2  # counted, and before them
PRIOR_WEIGHT = 20.0  # observations that the prior rate counts as much as
FAR = 4.0  # standard deviations of the noisiest right value beyond which a chain begins with a value as odd


class System(NamedTuple):
    """Observations at some hyperparameters.

    Attributes:
        K: ``n x n`` covariance of the latent values.
        r: ``n`` observations less the mean.
        s2: ``n`` noise variances.
        log_slope: ``n`` logarithms of the factor by which densities of right observations are to be multiplied.
    """

    K: Array
    r: Array
    s2: Array
    log_slope: Array


class States(NamedTuple):
    """The last draws of a chain.

    Attributes:
        state: ``n`` integers: `ODD`, or which of `densities.MULTIPLES` the noise variance is multiplied by.
        rate: Rate of odd observations.
        dof: Which of `densities.DOFS` the noise has.
    """

    state: NDArray[np.intp]
    rate: float
    dof: int

    @property
    def is_odd(self) -> NDArray[np.bool_]:
        """``n`` booleans."""
        return self.state == ODD

    @property
    def log_shares(self) -> Array:
        """``3`` logarithms of the shares of the noise's multiples."""
        log_shares: Array = LOG_SHARES[self.dof]
        return log_shares

    def noise(self, s2: Array) -> Array:
        """``n`` noise variances of right observations."""
        return s2 * MULTIPLES[np.minimum(self.state, ODD - 1)]


class GibbsSample(NamedTuple):
    """The draws of a chain.

    Attributes:
        q: ``n`` probabilities that an observation is odd.
        states: What was drawn last.
        shares: ``3`` shares of right ones by noise.
        predictions: What the right ones but itself predict of each observation.
    """

    q: Tensor
    states: States
    shares: Tensor
    predictions: Predictions


@lapack.quiet()  # the square of a gross error
def sample(
    system: System,
    log_odd: Tensor,
    *,
    rate: float,
    begin: Collection[int] = (),
    doubt: NDArray[np.intp] | None = None,
    most: int | None = None,
    beside: tuple[int, int] = (0, 0),
    sweeps: int = SWEEPS,
    seed: int = 0,
) -> GibbsSample:
    """Sample which observations are odd; a pure function.

    Args:
        system: The observations where the chain begins.
        log_odd: ``n`` log densities of the observations, if they are odd.
        rate: Mean of the prior rate of odd ones, in (0, 1).
        begin: Those that are odd or at least noisy to begin with; the gross ones should be, since single moves leave
            them for their neighbours slowly.
        doubt: ``n`` integers, see `sweep.Conditions`; by default each value is in doubt.
        most: How many may be odd at once; half of them by default.
        beside: Numbers of right and of odd observations that are certain and not among these.
        sweeps: How many are counted.
        seed: Of the draws.

    Example:
        >>> y, none = np.array([0.1, 0.0, 0.1, 5.0]), np.zeros(4)
        >>> system = System(np.ones((4, 4)), y, none + 0.01, none)
        >>> sample(system, torch.full((4,), -3.0, dtype=torch.float64), rate=0.1, begin=[3]).q.round().tolist()
        [0.0, 0.0, 0.0, 1.0]
    """
    n, rng = len(system.r), np.random.default_rng(seed)
    most = n // 2 if most is None else most
    doubt = np.full(n, OF_VALUE) if doubt is None else doubt
    (chain, states), silent = _begin(system, rate, begin), silent_share(rate)
    total, shares, burn_in, parts = np.zeros(n), np.zeros(ODD), max(BURN_IN, sweeps // 8), list[Predictions]()
    for sweep in range(burn_in + sweeps):
        draws, log_shares = _sweep(chain, system, states, log_odd.numpy(), doubt, most, silent, rng), states.log_shares
        states = _draw_rate_and_tails(states, doubt, rate, beside, rng)
        if sweep >= burn_in:
            total += draws.q
            shares += np.exp(LOG_SHARES[states.dof])
            parts.append(draws.predictions(system.s2, log_shares))
    mean, mean_shares = (torch.from_numpy(sums / sweeps) for sums in (total, shares))
    return GibbsSample(mean, states, mean_shares, Predictions.concatenate(parts))


def _begin(system: System, rate: float, begin: Collection[int]) -> tuple[Chain, States]:
    """The noise of the heaviest tails, and of those that are given the ones as odd that lie beyond even these."""
    states = States(np.where(np.isin(np.arange(len(system.r)), list(begin)), ODD - 1, 0), rate, 0)
    chain = _chain(system, states)
    errors = [(i, *chain.leave_one_out(i)) for i in begin]
    odd = [i for i, e, v in errors if e * e > FAR**2 * (v + MULTIPLES[-1] * system.s2[i])]
    states.state[odd] = ODD
    return _chain(system, states) if odd else chain, states


def _chain(system: System, states: States) -> Chain:
    return Chain(system.K, system.r, states.noise(system.s2), np.flatnonzero(states.is_odd).tolist())


def _sweep(
    chain: Chain,
    system: System,
    states: States,
    log_odd: Array,
    doubt: NDArray[np.intp],
    most: int,
    silent: float,
    rng: Generator,
) -> SweepDraws:
    """Draw the state of each observation in turn, in place; return what was found of each."""
    n, log_odds = len(system.r), log_odd - system.log_slope + math.log(states.rate / (1 - states.rate))
    conditions = Conditions(system.s2, states.log_shares, log_odds, doubt, most, silent)
    swept = sweep_chain(chain, states.state, conditions, rng.permutation(n).tolist(), rng.random(n).tolist())
    return swept._replace(mean=system.r - swept.mean, log_weight=-swept.log_weight - system.log_slope)  # eq. 19.7


def _draw_rate_and_tails(
    states: States, doubt: NDArray[np.intp], rate: float, beside: tuple[int, int], rng: Generator
) -> States:
    (share,), (dof,) = draw_rates_and_dofs(states.state[None], doubt, rate, rng, beside)
    return states._replace(rate=float(share), dof=int(dof))


def draw_rates_and_dofs(
    states: NDArray[np.intp], doubt: NDArray[np.intp], rate: float, rng: Generator, beside: tuple[int, int] = (0, 0)
) -> tuple[Array, NDArray[np.intp]]:
    """Draw the rate of odd observations, and which of `densities.DOFS` the noise has, for each of B chains.

    Observations of which nothing is in doubt count as right, and say nothing of the tails.

    Args:
        states: ``B x n`` states.
        doubt: ``n`` integers, see `sweep.Conditions`.
        rate: Mean of the prior rate.
        rng: Draws.
        beside: Numbers of right and of odd observations that are certain and not among these.
    """
    doubtful = states[:, doubt != NONE]
    counts = np.stack([(doubtful == k).sum(1) for k in range(ODD + 1)], 1)
    counts[:, [0, ODD]] += beside
    odd, right = counts[:, ODD], counts[:, :ODD].sum(1) + np.count_nonzero(doubt == NONE)
    shares = rng.beta(PRIOR_WEIGHT * rate + odd, PRIOR_WEIGHT * (1 - rate) + right)  # eq. 19.4
    heights = counts[:, :ODD] @ LOG_SHARES.T
    below = np.exp(heights - heights.max(1, keepdims=True)).cumsum(1)
    dofs = (rng.random(len(counts))[:, None] * below[:, -1:] > below[:, :-1]).sum(1)
    return np.clip(shares, 1e-12, 1 - 1e-12), dofs
