"""Probability that each observation of a fitted GP is odd: that it says nothing of what the others predict.

Of few observations all are sampled, and the hyperparameters with them. Of many, most are certain, and the
hyperparameters as good as known: the chain is of the doubtful ones alone, given all others, at those of the fit.

References:
    docs/equations.md section 19.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.belief.densities import DOFS, LOG_SHARES, log_right
from robustbo.numerics.belief.gibbs import SWEEPS, System, sample
from robustbo.numerics.belief.hyperparameters import HyperparameterWalk, system_at
from robustbo.numerics.gp.log_posterior import Model, log_posterior, noise
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.prediction_cache import PredictionCache

FEWEST = 6  # observations of which anything is learned of the hyperparameters; those of fewer stay the fit's
FEW = 200  # observations of which all are sampled, with the hyperparameters
STEPS = 600  # draws of single observations, at least
SURE = 0.05  # how probable it is at most that an observation is not what it is taken for, where it is not sampled
TYPICAL = DOFS.index(4.0)  # degrees of freedom by which it is decided which are doubtful


def probability_odd(
    model: Model,
    fit: Fit,
    cache: Callable[[], PredictionCache],
    log_odd: Tensor,
    *,
    rate: float,
    share: float = 1.0,
    seed: int = 0,
) -> Tensor:
    """The probabilities that ``n`` observations are odd, by sampling that begins at a fit.

    Args:
        model: What stays fixed in the fit.
        fit: Hyperparameters, and added variances of those that are odd.
        cache: Computes what is known there, which is needed of many.
        log_odd: ``n`` log densities of odd observations, before a warp.
        rate: Mean of the prior rate of odd ones, in (0, 1).
        share: Of the draws that a single chain would need: less where several make up an average.
        seed: Of the draws.
    """
    if len(model.y) > FEW:
        return _doubtful_alone(model, fit, cache(), log_odd, rate, seed)
    move = None
    if model.is_informed and len(model.y) >= FEWEST:
        move = HyperparameterWalk(model, log_posterior(model, fit.theta, fit.rho))
    system = system_at(model, fit.theta)
    sweeps = math.ceil(share * max(SWEEPS, STEPS / len(model.y)))
    draws = sample(
        system, log_odd, rate=rate, begin=fit.support, cleared=model.cleared, move=move, sweeps=sweeps, seed=seed
    )
    return draws.q


def _doubtful_alone(model: Model, fit: Fit, cache: PredictionCache, log_odd: Tensor, rate: float, seed: int) -> Tensor:
    bend = model.warp_at(fit.theta)
    s2, slope = noise(model, fit.theta, bend), torch.zeros_like(model.y)
    if bend is not None:
        slope = torch.from_numpy(bend.log_slope)
    q, is_base = conditional_probabilities(cache.e, cache.v, s2, log_odd - slope, rate)
    if model.cleared is not None:
        q = q.masked_fill(model.cleared, 0.0)
    is_odd = q >= 1 - SURE
    is_certain = (is_odd | (is_base & (q <= SURE))) & (is_odd == (fit.rho > 0))
    rows = (~is_certain).nonzero().flatten()
    if len(rows):
        C = torch.linalg.inv(cache.P[rows][:, rows])  # what the others leave of their covariance
        r, C = C @ cache.al[rows], C - torch.diag((s2 + fit.rho)[rows])
        odd = int((is_certain & is_odd).sum())
        system = System(0.5 * (C + C.mT).numpy(), r.numpy(), s2[rows].numpy().copy(), slope[rows].numpy())
        q[rows] = sample(
            system,
            log_odd[rows],
            rate=rate,
            begin=(fit.rho[rows] > 0).nonzero().flatten().tolist(),
            cleared=None if model.cleared is None else model.cleared[rows],
            most=max(0, len(q) // 2 - odd),
            beside=(len(q) - len(rows) - odd, odd),
            seed=seed,
        ).q
    return q


def conditional_probabilities(e: Tensor, v: Tensor, s2: Tensor, log_odd: Tensor, rate: float) -> tuple[Tensor, Tensor]:
    """The probabilities that ``n`` values are odd, each given others that are not asked; and which are not very noisy.

    Args:
        e: ``n`` errors of what the others predict.
        v: ``n`` variances of these errors, noise included.
        s2: ``n`` noise variances.
        log_odd: ``n`` log densities of odd values, as the errors are warped.
        rate: Prior rate of odd values.
    """
    shares, latent = LOG_SHARES[TYPICAL], (v - s2).clamp_min(0.0)
    right = log_right(e, latent, s2, shares)
    odds = log_odd - right.logsumexp(-1) + math.log(rate / (1 - rate))
    return odds.sigmoid(), right.softmax(-1)[:, 0] > np.exp(shares[0]) / 2
