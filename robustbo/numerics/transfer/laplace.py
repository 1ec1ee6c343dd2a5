"""Evidence for a model of the observations: its hyperparameters integrated out by Laplace's approximation.

Notation (no batch dimensions):
    F      log posterior density, with the priors' densities of the hyperparameters themselves
    theta  p  their logarithms (of some coordinates: themselves)
    A      p x p  average information and prior precision: minus the Hessian of F, or near it
    g      p      slope of F + log Jacobian, which is what is integrated over theta

References:
    docs/equations.md section 22.
"""

import math

import numpy as np
import torch
from scipy.special import erfcx

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.gp.log_posterior import LogPosterior, Model, gradient, information
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.linalg.lapack import Array

AT_BOUND = 1e-6  # of a coordinate's distance to a bound


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


def log_evidence(model: Model, value: LogPosterior) -> float:
    """Log marginal likelihood of the observations, hyperparameters integrated out; added variances stay at their best.

    A coordinate at a bound is integrated over the side that is left, by itself.

    Args:
        model: What stays fixed.
        value: The log posterior density at its maximum.
    """
    A, on_log = curvature(model, value), log_jacobian_slopes(model)
    theta, (low, high) = value.theta.numpy(), np.array(model.bounds).T
    slope = gradient(model, value)[0].numpy()
    is_low, is_high = theta - low < AT_BOUND, high - theta < AT_BOUND
    outward = np.where(is_low, -slope - on_log, slope + on_log)
    is_held = (is_low | is_high) & (outward > 0)
    free = ~is_held
    inner = A[np.ix_(free, free)]
    g = on_log[free]  # the slope of F itself is zero there
    log_det = np.linalg.slogdet(inner)[1]
    total = value.F + float(on_log @ theta)
    total += 0.5 * (g @ np.linalg.solve(inner, g) + free.sum() * LOG_2PI - log_det)  # eq. 22.7
    for push, a in zip(outward[is_held], A.diagonal()[is_held], strict=True):
        total += 0.5 * math.log(math.pi / (2 * a)) + math.log(erfcx(push / math.sqrt(2 * a)))  # eq. 22.8
    return float(total)
