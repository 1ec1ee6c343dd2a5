"""Draws of a GP's hyperparameters, given which observations are right and how noisy these are, for many chains at once.

Half of the steps are a random walk (Metropolis) whose steps are as large as the posterior at the fit is wide, by the
likelihood's information and the prior's, reflected at the bounds so that they are symmetric. The others draw a single
coordinate from its prior: few observations say little of it, so that such steps are often accepted, and lead from one
explanation of the observations to another. The constant mean is integrated out.

Notation: as in `gp.log_posterior` and `population`.

References:
    Roberts, Gelman and Gilks (1997), Weak convergence and optimal scaling of random walk Metropolis algorithms;
    Tierney (1994), Markov chains for exploring posterior distributions, section 2.3.3, for independent steps.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from robustbo.numerics.belief.population import Population, Systems
from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.log_posterior import LogPosterior, information
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import Exponential, LogNormal, Normal
from robustbo.numerics.gp.warp import Warps
from robustbo.numerics.linalg.lapack import Array

MEAN_VARIANCE = 9.0  # of the constant mean, in standardized outcomes
STEP = 2.38  # by the square root of the number of coordinates: the best random walk (Roberts and others)
SHORT, SHORT_SHARE = 0.3, 0.3  # steps that are as much shorter, and how often: where the posterior is narrow
LEAST_PRECISION = 0.05  # along any direction: a coordinate of which nothing is known moves by a few units
STEPS = 2  # a sweep


def systems_at(model: Model, theta: Array) -> Systems:
    """The observations at ``B x p`` hyperparameters, the constant mean integrated out."""
    B, n, p = len(theta), len(model.y), len(model.covariance.bounds)
    log_x = torch.from_numpy(np.ascontiguousarray(theta[:, :p]))
    if model.covariance.matrices is None:
        K = torch.stack([model.covariance.at(row).K for row in log_x]).numpy()
    else:
        K = model.covariance.matrices(log_x).numpy()
    y, log_slope = np.tile(model.y.numpy(), (B, 1)), np.zeros((B, n))
    if model.warp:
        y, log_slope = Warps(theta[:, -len(model.warp) :]).warp(model.y.numpy())
    if model.s2_known is None:
        s2 = np.tile(np.exp(theta[:, p : p + 1]), (1, n))
        if model.s2_parts is not None:
            fixed, share = (part.numpy() for part in model.s2_parts)
            s2 = fixed * np.exp(2 * log_slope) + share * s2  # eq. 6.21
    else:
        s2 = model.s2_known.numpy() * np.exp(2 * log_slope)
    return Systems(K + MEAN_VARIANCE, y, s2, log_slope)


def noise_of_one(model: Model, theta: Array, s2: Array) -> Array:
    """``B`` noise variances of a new measurement at ``B x p`` hyperparameters, by ``B x n`` of the observations."""
    return s2[:, 0] if model.s2_parts is None else np.exp(theta[:, len(model.covariance.bounds)])


class CoordinatePriors:
    """Priors of the ``p`` coordinates of theta: normal, exponential (of the warp), or none."""

    def __init__(self, model: Model) -> None:
        priors = [*model.covariance.priors, *parameters.priors(model.blocks)]
        normal = [prior if isinstance(prior, LogNormal | Normal) else Normal(0.0, math.inf) for prior in priors]
        self._loc, self._scale = np.array([prior.loc for prior in normal]), np.array([prior.scale for prior in normal])
        self._rate = np.array([prior.rate if isinstance(prior, Exponential) else 0.0 for prior in priors])

    def log_density(self, theta: Array) -> Array:
        """``B`` log densities of coordinates, but for a constant."""
        return -0.5 * np.square((theta - self._loc) / self._scale).sum(1) - theta @ self._rate

    def draw(self, coordinates: NDArray[np.intp], rng: Generator) -> Array:
        """A draw of each of these coordinates; NaN or infinite where it has no prior."""
        normal = self._loc[coordinates] + self._scale[coordinates] * rng.standard_normal(len(coordinates))
        rate, exponential = self._rate[coordinates], rng.standard_exponential(len(coordinates))
        return np.where(rate > 0, exponential / np.where(rate > 0, rate, 1.0), normal)


def log_density(population: Population, systems: Systems) -> Array:
    """Log densities of the right observations of each chain at some hyperparameters; -inf where there is none."""
    C, failed = torch.linalg.cholesky_ex(torch.from_numpy(population.right_covariances(systems)))
    r = np.where(population.is_odd, 0.0, systems.r)
    z = torch.linalg.solve_triangular(C, torch.from_numpy(r).unsqueeze(-1), upper=False).squeeze(-1)
    heights = (-0.5 * z.square().sum(-1) - C.diagonal(dim1=-2, dim2=-1).log().sum(-1)).numpy()
    heights += np.where(population.is_odd, 0.0, systems.log_slope).sum(1)
    return np.where((failed.numpy() == 0) & np.isfinite(heights), heights, -np.inf)


class HyperparameterWalk:
    """A walk of each chain through the hyperparameters of a model.

    Args:
        model: What stays fixed; its covariance must have tangents.
        values: Log posterior densities at the fits.
        of: ``B`` integers: the fit at which each chain begins.

    Attributes:
        theta: ``B x p`` hyperparameters.
    """

    def __init__(self, model: Model, values: Sequence[LogPosterior], of: NDArray[np.intp]) -> None:
        self._model, self._priors = model, CoordinatePriors(model)
        self.theta = np.stack([value.theta.numpy() for value in values])[of]
        self._steps = np.stack([_principal_steps(model, value) for value in values])[of]
        self._low, self._high = np.array(model.bounds).T
        self._free = np.flatnonzero(self._low < self._high)

    def draw(self, population: Population, rng: Generator) -> None:
        """Draw other hyperparameters for each chain, given its states."""
        height, log_prior = log_density(population, population.systems), self._priors.log_density(self.theta)
        for _ in range(STEPS):
            is_walk = rng.random() < 0.5
            theta = self._walk(rng) if is_walk else self._refresh(rng)
            systems = systems_at(self._model, theta)
            higher, its_prior = log_density(population, systems), self._priors.log_density(theta)
            gain = higher - height + (its_prior - log_prior if is_walk else 0.0)  # eq. 19.5
            is_accepted = np.log(rng.random(len(theta))) < np.where(np.isfinite(higher), gain, -np.inf)
            population.systems.replace_chains(systems, is_accepted)
            self.theta[is_accepted], height[is_accepted] = theta[is_accepted], higher[is_accepted]
            log_prior[is_accepted] = its_prior[is_accepted]
        population.renew()

    def _walk(self, rng: Generator) -> Array:
        B, p = self.theta.shape
        length = np.where(rng.random(B) < SHORT_SHARE, SHORT, 1.0)[:, None]
        x = self.theta + length * (self._steps @ rng.standard_normal((B, p, 1)))[..., 0]
        return _reflect(x, self._low, self._high)

    def _refresh(self, rng: Generator) -> Array:
        """One coordinate of each chain from its prior; it stays where that is out of bounds."""
        theta, coordinates = self.theta.copy(), self._free[rng.integers(len(self._free), size=len(self.theta))]
        x, chains = self._priors.draw(coordinates, rng), np.arange(len(theta))
        is_within = (self._low[coordinates] <= x) & (x <= self._high[coordinates])
        theta[chains[is_within], coordinates[is_within]] = x[is_within]
        return theta


def _principal_steps(model: Model, value: LogPosterior) -> Array:
    """``p x p`` steps of the random walk along the principal directions of the posterior at a fit."""
    precision = model.prior_precision
    assert precision is not None
    none = torch.zeros(0, dtype=torch.long)
    H = information(model, value, none, none.double()).numpy() + np.diag(precision.numpy())
    widths, directions = np.linalg.eigh(0.5 * (H + H.T))
    steps: Array = STEP / math.sqrt(len(H)) * directions / np.sqrt(np.maximum(widths, LEAST_PRECISION))
    return steps


def _reflect(x: Array, low: Array, high: Array) -> Array:
    """Fold coordinates back between their bounds; those that are fixed stay."""
    width = np.maximum(high - low, np.finfo(float).tiny)
    beyond = np.mod(x - low, 2 * width)
    return np.where(high > low, low + np.minimum(beyond, 2 * width - beyond), low)
