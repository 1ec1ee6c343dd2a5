"""Draws of a GP's hyperparameters, given which observations are right and how noisy these are.

A random walk (Metropolis) whose steps are as large as the posterior at the fit is wide: by the likelihood's information
and the prior's. Reflected at the bounds, steps are symmetric. The constant mean is integrated out.

Notation: as in `gp.log_posterior`.

References:
    Roberts, Gelman and Gilks (1997), Weak convergence and optimal scaling of random walk Metropolis algorithms.
"""

import math

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from robustbo.numerics.belief.gibbs import States, System
from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.log_posterior import LogPosterior, Model, information, noise
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

MEAN_VARIANCE = 9.0  # of the constant mean, in standardized outcomes
STEP = 2.38  # by the square root of the number of coordinates: the best random walk (Roberts and others)
SHORT, SHORT_SHARE = 0.3, 0.3  # steps that are as much shorter, and how often: where the posterior is narrow
LEAST_PRECISION = 0.05  # along any direction: a coordinate of which nothing is known moves by a few units
STEPS = 2  # a sweep


def system_at(model: Model, theta: Tensor) -> System:
    """The observations at some hyperparameters, the constant mean integrated out."""
    p = len(model.covariance.bounds)
    covariance, bend = model.covariance.at(theta[:p]), model.warp_at(theta)
    s2 = noise(model, theta, bend).numpy()
    log_prior = covariance.log_prior + parameters.log_prior(model.blocks, theta.tolist()[p:])
    log_prior += float(theta[: p + (model.s2_known is None)].sum())  # densities of the parameters' logarithms
    y = model.y.numpy() if bend is None else bend.y
    slope = np.zeros_like(y) if bend is None else bend.log_slope
    return System(covariance.K.numpy() + MEAN_VARIANCE, y, s2, slope, log_prior)


def log_density(system: System, states: States) -> float:
    """Log density of the right observations, and of the hyperparameters; -inf where there is none."""
    right = np.flatnonzero(~states.is_odd)
    Sg = lapack.on_diagonal(system.K[np.ix_(right, right)], states.noise(system.s2)[right])
    C, is_definite = lapack.factor(Sg)
    if not is_definite:
        return -math.inf
    r = system.r[right]
    height = -0.5 * float(r @ lapack.solve(C, r)) - float(np.log(C.diagonal()).sum())
    return height + float(system.log_slope[right].sum()) + system.log_prior


class HyperparameterWalk:
    """A walk through the hyperparameters of a model.

    Args:
        model: What stays fixed; its covariance must have tangents.
        value: The log posterior density at the fit, where the walk begins.

    Attributes:
        theta: Where it is.
    """

    def __init__(self, model: Model, value: LogPosterior) -> None:
        self._model, self.theta = model, value.theta
        precision = model.prior_precision
        assert precision is not None
        none = torch.zeros(0, dtype=torch.long)
        H = information(model, value, none, none.double()).numpy() + np.diag(precision.numpy())
        widths, directions = np.linalg.eigh(0.5 * (H + H.T))
        self._steps = STEP / math.sqrt(len(H)) * directions / np.sqrt(np.maximum(widths, LEAST_PRECISION))
        self._low, self._high = np.array(model.bounds).T

    def __call__(self, system: System, states: States, rng: Generator) -> System:
        """Draw other hyperparameters; the system of these, or the same one where they stay."""
        height = log_density(system, states)
        for _ in range(STEPS):
            theta = self._propose(rng)
            other = system_at(self._model, theta)
            if math.log(rng.random()) < (higher := log_density(other, states)) - height:
                system, height, self.theta = other, higher, theta
        return system

    def _propose(self, rng: Generator) -> Tensor:
        length = SHORT if rng.random() < SHORT_SHARE else 1.0
        x = self.theta.numpy() + length * (self._steps @ rng.standard_normal(len(self._low)))
        return torch.from_numpy(_reflect(x, self._low, self._high))


def _reflect(x: Array, low: Array, high: Array) -> Array:
    """Fold coordinates back between their bounds; those that are fixed stay."""
    width = np.maximum(high - low, np.finfo(float).tiny)
    beyond = np.mod(x - low, 2 * width)
    return np.where(high > low, low + np.minimum(beyond, 2 * width - beyond), low)
