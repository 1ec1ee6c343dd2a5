"""Laplace's approximation of the hyperparameters' posterior: the evidence for a model, and draws to predict by.

Notation (no batch dimensions):
    F      log posterior density, with the priors' densities of the hyperparameters themselves
    theta  p  their logarithms (of some coordinates: themselves)
    A      p x p  average information and prior precision: minus the Hessian of F, or near it
    g      p      slope of F + log Jacobian, which is what is integrated over theta

References:
    Ionides (2008), Truncated importance sampling; docs/equations.md section 22.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import erfcx
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.log_posterior import LogPosterior, gradient, information, log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.linalg.lapack import Array

AT_BOUND = 1e-6  # of a coordinate's distance to a bound
LEAST_PRECISION = 0.05  # along any direction: a coordinate of which nothing is known moves by a few units


def log_jacobian_slopes(model: Model) -> Array:
    """``p`` numbers: 1 of a coordinate that is the logarithm of what its prior is a density of, else 0."""
    priors = [*model.covariance.priors, *parameters.priors(model.blocks)]
    return np.array([float(isinstance(prior, LogNormal)) for prior in priors])


def curvature(model: Model, value: LogPosterior) -> Array:
    """``p x p`` average information and prior precision at an evaluation."""
    none = torch.zeros(0, dtype=torch.long)
    A = information(model, value, none, none.double()).numpy()
    precision = model.prior_precision
    assert precision is not None
    return A + np.diag(precision.numpy())


class _Integral(NamedTuple):
    """The integral over theta, near the maximum.

    Attributes:
        A: ``p x p`` curvature.
        on_log: ``p`` slopes of the log Jacobian.
        is_held: ``p`` booleans: coordinates that a bound holds.
        outward: ``p`` slopes outward of those at a bound.
    """

    A: Array
    on_log: Array
    is_held: NDArray[np.bool_]
    outward: Array

    @classmethod
    def at(cls, model: Model, value: LogPosterior) -> "_Integral":
        A, on_log = curvature(model, value), log_jacobian_slopes(model)
        theta, (low, high) = value.theta.numpy(), np.array(model.bounds).T
        slope = gradient(model, value)[0].numpy()
        is_low, is_high = theta - low < AT_BOUND, high - theta < AT_BOUND
        outward = np.where(is_low, -slope - on_log, slope + on_log)
        return cls(A, on_log, (is_low | is_high) & (outward > 0), outward)


def log_evidence(model: Model, value: LogPosterior) -> float:
    """Log marginal likelihood of the observations, hyperparameters integrated out; added variances stay at their best.

    A coordinate at a bound is integrated over the side that is left, by itself.

    Args:
        model: What stays fixed.
        value: The log posterior density at its maximum.
    """
    A, on_log, is_held, outward = _Integral.at(model, value)
    free = ~is_held
    inner = A[np.ix_(free, free)]
    g = on_log[free]  # the slope of F itself is zero there
    log_det = np.linalg.slogdet(inner)[1]
    total = value.F + float(on_log @ value.theta.numpy())
    total += 0.5 * (g @ np.linalg.solve(inner, g) + free.sum() * LOG_2PI - log_det)  # eq. 22.7
    for push, a in zip(outward[is_held], A.diagonal()[is_held], strict=True):
        total += 0.5 * math.log(math.pi / (2 * a)) + math.log(erfcx(push / math.sqrt(2 * a)))  # eq. 22.8
    return float(total)


def draw_hyperparameters(model: Model, value: LogPosterior, rho: Tensor, count: int) -> list[tuple[float, Tensor]]:
    """Draws of the hyperparameters and their weights, which add up to one; added variances stay at their best.

    Draws are pairs on either side of the approximation's mode, weighted by what the posterior is there to what the
    approximation is; no weight is far above the mean. A coordinate that a bound holds stays there.

    Args:
        model: What stays fixed.
        value: The log posterior density at its maximum.
        rho: ``n`` added variances there.
        count: How many draws, an even number.
    """
    A, on_log, is_held, _ = _Integral.at(model, value)
    free, theta = np.flatnonzero(~is_held), value.theta.numpy()
    precisions, U = np.linalg.eigh(A[np.ix_(free, free)])
    precisions = np.maximum(precisions, LEAST_PRECISION)
    half = np.random.default_rng(0).standard_normal((count // 2, len(free)))
    z = np.concatenate([half, -half])
    points = np.tile(theta, (len(z), 1))
    points[:, free] += ((on_log[free] @ U) / precisions + z / np.sqrt(precisions)) @ U.T  # eq. 22.17
    low, high = np.array(model.bounds).T
    is_within = ((low <= points) & (points <= high)).all(-1)
    thetas = [torch.from_numpy(point) for point in points]
    heights = [
        log_posterior(model, at, rho).F + float(on_log @ at.numpy()) if within else -math.inf
        for at, within in zip(thetas, is_within, strict=True)
    ]
    log_weights = np.array(heights) + 0.5 * np.square(z).sum(-1)
    if not np.isfinite(log_weights).any():
        return [(1.0, value.theta)]
    w = np.exp(log_weights - log_weights.max())
    w = np.minimum(w, w.mean() * math.sqrt(count))  # eq. 22.18
    return [(share, at) for share, at in zip((w / w.sum()).tolist(), thetas, strict=True) if share > 0]
