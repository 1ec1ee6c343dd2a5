"""Hyperparameters of a robust conjugate process, by its leave-one-out objective, and the weights around its own fit.

Notation (no batch dimensions: a search is one search), beside that of `rcgp`:
    theta  p  hyperparameters, see `gp.log_posterior`
    F         leave-one-out objective plus log prior densities

References:
    docs/equations.md section 7.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp import objective, parameters
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.covariance import Covariance
from robustbo.numerics.gp.model import Model, noise
from robustbo.numerics.gp.objective import Objective
from robustbo.numerics.weighted import rcgp
from robustbo.numerics.weighted.rcgp import Conjugate, LeaveOneOutObjective, PredictionErrors, Weighting

MIN_C = 1e-3  # standardized units: most values may be equal, and the quantile of their distances nothing
ROUGH, FINE = 1e-4, 1e-9  # relative rise of F at which the first climbs stop, and the others


class Weights(NamedTuple):
    """Rule by which observations count. The source's: quantile 0.9, one round, not weighted.

    Attributes:
        is_robust: Whether by the inverse multiquadric; all alike if not.
        quantile: Of the distances from what the weights are taken around; the soft threshold is there.
        threshold: The soft threshold itself, in place of the quantile.
        rounds: How often weights are taken: first around the prior mean, then around the last leave-one-out
            predictions, in units of their standard deviations.
        is_weighted: Whether a summand of the objective counts by its observation's share. In the source it does not,
            and one gross value makes all the world noise.
    """

    is_robust: bool = True
    quantile: float = 0.75
    threshold: float | None = None
    rounds: int = 3
    is_weighted: bool = True

    def of(self, r: Tensor) -> Weighting:
        """The weights of ``n`` residuals."""
        if not self.is_robust:
            return rcgp.constant(r)
        c = r.abs().quantile(self.quantile) if self.threshold is None else r.new_tensor(self.threshold)
        return rcgp.inverse_multiquadric(r, c.clamp_min(MIN_C))

    def settle(
        self, r: Tensor, predict: Callable[[Weighting], PredictionErrors], rounds: int | None = None
    ) -> Weighting:
        """The weights after all rounds, or so many.

        Args:
            r: ``n`` values less the prior mean.
            predict: Leave-one-out errors and variances under some weights.
            rounds: How many.
        """
        weighting = self.of(r)
        for _ in range((self.rounds if rounds is None else rounds) - 1 if self.is_robust else 0):
            e, t = predict(weighting)
            sd = t.sqrt()
            reweighting = self.of(e / sd)
            weighting = Weighting(reweighting.J, reweighting.b / sd)
        return weighting


SOURCE = Weights(quantile=0.9, rounds=1, is_weighted=False)  # Altamirano, Briol and Knoblauch's


def prior_mean(y: Tensor) -> Tensor:
    """The median: half of the values may be wrong."""
    return y.quantile(0.5)


def evaluate(model: Model, theta: Tensor, m: Tensor, weights: Weights, rounds: int | None = None) -> Conjugate:
    """The process given the observations, at some hyperparameters, with its weights after all rounds (or so many)."""
    K, s2 = model.covariance.at(theta[: len(model.covariance.bounds)]).K, noise(model, theta)
    condition = partial(rcgp.condition, K, model.y - m, s2)
    return condition(weights.settle(model.y - m, lambda w: rcgp.leave_one_out(K, condition(w)), rounds))


class LeaveOneOutPosterior(NamedTuple):
    """The leave-one-out objective plus log prior densities at some theta, and what its derivatives need."""

    F: float
    x: Tensor
    covariance: Covariance
    s2: Tensor
    objective: LeaveOneOutObjective


def height(model: Model, weights: Weights, weighting: Weighting) -> Objective[LeaveOneOutPosterior]:
    """The objective of a round, whose weights stay as they are."""
    return Objective(
        model.bounds,
        lambda theta, _: leave_one_out_posterior(model, weights, weighting, theta),
        partial(slopes, model),
    )


def leave_one_out_posterior(
    model: Model, weights: Weights, weighting: Weighting, theta: Tensor
) -> LeaveOneOutPosterior:
    """The height at theta; -inf where it cannot be had."""
    p = len(model.covariance.bounds)
    covariance, s2 = model.covariance.at(theta[:p]), noise(model, theta)
    process = rcgp.condition(covariance.K, model.y - prior_mean(model.y), s2, weighting)
    share = weighting.share if weights.is_weighted else torch.ones_like(s2)
    leave_one_out = rcgp.objective(covariance.K, process, share)
    F = leave_one_out.L.item() + (covariance.log_prior + parameters.log_prior(model.blocks, theta.tolist()[p:]))
    is_fine = process.converged and math.isfinite(F)
    return LeaveOneOutPosterior(F if is_fine else -math.inf, theta, covariance, s2, leave_one_out)


def slopes(model: Model, value: LeaveOneOutPosterior) -> Tensor:
    """The gradient of F in theta."""
    on_kernel = value.covariance.pullback(value.objective.G)
    if model.s2_known is not None:
        return on_kernel
    on_noise = value.objective.L_s2 @ value.s2 + model.s2_prior.slope(value.x[-1])
    return torch.cat([on_kernel, on_noise.reshape(1)])


def search(model: Model, weights: Weights) -> Ascent:
    """The highest of the maxima that the model's starts lead to; in later rounds, from where the last one ended."""
    m = prior_mean(model.y)
    ascent = objective.search(height(model, weights, weights.of(model.y - m)), model.starts, rough=ROUGH, fine=FINE)
    for rounds in range(2, weights.rounds + 1 if weights.is_robust else 2):
        before = ascent
        around = height(model, weights, evaluate(model, before.x, m, weights, rounds).weighting)
        ascent = objective.climb(around, around.evaluate(before.x, None), ftol=FINE)
        ascent = ascent._replace(num_evaluations=before.num_evaluations + ascent.num_evaluations)
    return ascent._replace(value=None)
