"""Probability that each observation of a fitted GP is odd: that it says nothing of what the others predict.

Of few observations all are sampled, and the hyperparameters with them, by chains that begin at all plausible fits. Of
many, most are certain, and the hyperparameters as good as known: a chain is of the doubtful ones alone, given all
others, at those of a fit.

References:
    docs/equations.md section 19.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.belief.densities import DOFS, LOG_SHARES, MULTIPLES, NUM_RIGHT, log_right, silent_share
from robustbo.numerics.belief.draws import Draw, DrawCollection
from robustbo.numerics.belief.gibbs import BURN_IN, System
from robustbo.numerics.belief.gibbs import sample as sample_states
from robustbo.numerics.belief.hyperparameters import HyperparameterWalk, noise_of_one, systems_at
from robustbo.numerics.belief.population import Population
from robustbo.numerics.belief.predictions import Predictions, SweepDraws
from robustbo.numerics.belief.sweep import NONE, OF_NOISE, OF_VALUE
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model, noise
from robustbo.numerics.gp.prediction_cache import PredictionCache

FEWEST = 6  # observations of which anything is learned of the hyperparameters; those of fewer stay the fit's
FEW = 200  # observations of which all are sampled, with the hyperparameters
CHAINS, LEAST_CHAINS = 16, 2  # side by side, of the fewest and of the most values that are sampled
ROOM = 200  # observations of all chains together, where these bounds allow it
SWEEPS, STEPS = 6, 400  # of each chain, and draws of single observations in each, at least
SURE = 0.05  # how probable it is at most that an observation is not what it is taken for, where it is not sampled
TYPICAL = DOFS.index(4.0)  # degrees of freedom by which it is decided which are doubtful


class WeightedFit(NamedTuple):
    """A fit, its posterior probability, and what computes what is known there, which is needed of many observations."""

    weight: float
    fit: Fit
    cache: Callable[[], PredictionCache]


class Belief(NamedTuple):
    """Belief in the observations of a fitted GP, by sampling.

    Attributes:
        q: ``n`` probabilities that an observation says nothing: it is odd, or its noise is the widest.
        shares: ``3`` shares that the noise variances of `densities.MULTIPLES` have among right ones.
        predictions: What is predicted of each observation by the others, in every draw.
        s2_factor: Noise variance of most right ones, by that of the fits, whose normal noise has no tails.
        draws: To predict by; none of many observations, and where the hyperparameters were not sampled.
    """

    q: Tensor
    shares: Tensor
    predictions: Predictions
    s2_factor: float = 1.0
    draws: Sequence[Draw] = ()

    @property
    def noise_multiple(self) -> float:
        """Variance of right observations' noise, tails included, by that of the fits."""
        return self.s2_factor * float(self.shares.cpu().numpy() @ MULTIPLES)


def sample_belief(
    model: Model, fits: Sequence[WeightedFit], log_odd: Tensor, *, rate: float, effort: int = 1, seed: int = 0
) -> Belief:
    """The probabilities that ``n`` observations are odd, by sampling that begins at the plausible fits.

    Args:
        model: What stays fixed in the fits.
        fits: Hyperparameters, and added variances of those that are odd, with their weights.
        log_odd: ``n`` log densities of odd observations, before a warp.
        rate: Mean of the prior rate of odd ones, in (0, 1).
        effort: How many times as many draws of few observations.
        seed: Of the draws.
    """
    if len(model.y) <= FEW:
        return _all_of_few(model, fits, log_odd, rate, effort, seed)
    total = math.fsum(of.weight for of in fits)
    q, shares = torch.zeros_like(model.y), torch.zeros(len(MULTIPLES), dtype=torch.float64)
    parts = []
    for of in fits:
        belief = _doubtful_alone(model, of.fit, of.cache(), log_odd, rate, seed)
        q += of.weight / total * belief.q
        shares += of.weight / total * belief.shares
        parts.append(belief.predictions.with_count(np.log(of.weight)))
    return Belief(q, shares, Predictions.concatenate(parts))


def _all_of_few(
    model: Model, fits: Sequence[WeightedFit], log_odd: Tensor, rate: float, effort: int, seed: int
) -> Belief:
    n, rng = len(model.y), np.random.default_rng(seed)
    count = min(max(LEAST_CHAINS, ROOM // n), CHAINS)
    likeliest = sorted(fits, key=lambda of: -of.weight)[:count]
    of = np.arange(count) % len(likeliest)
    weights = np.array([fit.weight for fit in likeliest])[of] / np.bincount(of)[of]
    theta = np.stack([fit.fit.theta.numpy() for fit in likeliest])[of]
    systems = systems_at(model, theta)
    s2_of_fits, log_s2 = noise_of_one(model, theta, systems.s2).copy(), np.zeros(count)
    population = Population(systems, [likeliest[k].fit.support for k in of], rate)
    walk = None
    if model.is_informed and n >= FEWEST:
        values = [log_posterior(model, fit.fit.theta, fit.fit.rho) for fit in likeliest]
        walk = HyperparameterWalk(model, values, of)
        theta = walk.theta  # which its draws change in place
    sweeps, total = effort * max(SWEEPS, math.ceil(STEPS / n)), np.zeros((count, n))
    shares = np.zeros((count, len(MULTIPLES)))
    doubt = _doubt(model)
    burn_in, parts = max(BURN_IN, sweeps // 6), list[Predictions]()
    collection = DrawCollection(model, weights, sweeps, seed)
    for sweep in range(burn_in + sweeps):
        draws = population.sweep(log_odd.numpy(), doubt, n // 2, rng)
        if sweep >= burn_in:
            total += draws.q
            t = theta[:, -len(model.warp) :] if model.warp else None
            predictions = draws.predictions(population.systems.s2, LOG_SHARES[population.dof], t, np.log(weights))
            parts.append(predictions)
        population.draw_rate_and_tails(doubt, rng)
        if walk is not None:
            walk.draw(population, rng)
        if sweep >= burn_in:
            shares += np.exp(LOG_SHARES[population.dof])
            log_s2 += np.log(noise_of_one(model, theta, population.systems.s2) / s2_of_fits)
            if walk is not None:
                collection.take(theta, population)
    q, shares, log_s2 = (weights @ sums / (weights.sum() * sweeps) for sums in (total, shares, log_s2))
    predictions, s2_factor = Predictions.concatenate(parts), math.exp(log_s2)
    return Belief(torch.from_numpy(q), torch.from_numpy(shares), predictions, s2_factor, collection.draws)


def _doubt(model: Model) -> NDArray[np.intp]:
    """``n`` integers: what is in doubt of each observation, see `sweep.Conditions`."""
    doubt = np.full(len(model.y), OF_VALUE)
    for is_certain, left in ((model.cleared, OF_NOISE), (model.vouched, NONE)):
        if is_certain is not None:
            doubt[is_certain.numpy()] = left
    return doubt


def _doubtful_alone(model: Model, fit: Fit, cache: PredictionCache, log_odd: Tensor, rate: float, seed: int) -> Belief:
    bend = model.warp_at(fit.theta)
    s2, slope, y = noise(model, fit.theta, bend), torch.zeros_like(model.y), model.y
    if bend is not None:
        slope, y = torch.from_numpy(bend.log_slope), torch.from_numpy(bend.y)
    alone = conditional_probabilities(cache.e, cache.v, s2, log_odd - slope, rate)
    q, silent = alone.q, alone.silent
    if model.cleared is not None:
        q, silent = (of.masked_fill(model.cleared, 0.0) for of in (q, silent))
    is_odd = q >= 1 - SURE
    is_certain = (is_odd | (alone.is_base & (q <= SURE))) & (is_odd == (fit.rho > 0))
    columns = silent, y - cache.e, alone.latent, -alone.log_density - slope
    draws = SweepDraws(*(column.numpy() for column in columns))
    t = fit.theta[-len(model.warp) :].numpy() if model.warp else None
    predictions, shares = draws.predictions(s2.numpy(), LOG_SHARES[TYPICAL], t), np.exp(LOG_SHARES[TYPICAL])
    if not (rows := (~is_certain).nonzero().flatten()).numel():
        return Belief(silent, torch.from_numpy(shares), predictions)
    C = torch.linalg.inv(cache.P_among(rows))  # what the others leave of their covariance
    r, C = C @ cache.al[rows], C - torch.diag((s2 + fit.rho)[rows])
    odd = int((is_certain & is_odd).sum())
    sample = sample_states(
        System(0.5 * (C + C.mT).numpy(), r.numpy(), s2[rows].numpy().copy(), slope[rows].numpy()),
        log_odd[rows],
        rate=rate,
        begin=(fit.rho[rows] > 0).nonzero().flatten().tolist(),
        doubt=_doubt(model)[rows.numpy()],
        most=max(0, len(q) // 2 - odd),
        beside=(len(q) - len(rows) - odd, odd),
        seed=seed,
    )
    silent[rows] = sample.q
    sampled = sample.predictions.among(rows.numpy(), (y[rows] - r).numpy(), t)
    return Belief(silent, sample.shares, Predictions.concatenate([predictions.without(rows.numpy()), sampled]))


class Conditional(NamedTuple):
    """Belief in ``n`` values, each given others that are not asked.

    Attributes:
        q: The probabilities that they are odd.
        silent: That they say nothing: they are odd, or their noise is the widest.
        is_base: Which are not very noisy, if they are right.
        latent: Variances of what is predicted, without noise.
        log_density: Log densities of the values, right or odd, by the prior share of right ones.
    """

    q: Tensor
    silent: Tensor
    is_base: Tensor
    latent: Tensor
    log_density: Tensor


def conditional_probabilities(e: Tensor, v: Tensor, s2: Tensor, log_odd: Tensor, rate: float) -> Conditional:
    """Belief in ``n`` values, each given others that are not asked.

    Args:
        e: ``n`` errors of what the others predict.
        v: ``n`` variances of these errors, noise included.
        s2: ``n`` noise variances.
        log_odd: ``n`` log densities of odd values, as the errors are warped.
        rate: Prior rate of odd values.
    """
    shares, latent = LOG_SHARES[TYPICAL], (v - s2).clamp_min(0.0)
    right = log_right(e, latent, s2, shares)
    log_density, odd = right.logsumexp(-1), log_odd + math.log(rate / (1 - rate))
    among = right.softmax(-1)
    q, is_base = (odd - log_density).sigmoid(), among[:, 0] > np.exp(shares[0]) / 2
    silent = q + (1 - q) * silent_share(rate) * among[:, NUM_RIGHT:].sum(-1)
    return Conditional(q, silent, is_base, latent, torch.logaddexp(odd, log_density))
