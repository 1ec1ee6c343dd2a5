"""Covariance functions with priors on their hyperparameters, as a search over hyperparameters sees them.

Notation (no batch dimensions: a search is one search):
    X      n x d  inputs
    l      d      length-scales
    s2f           signal variance
    theta  p      logarithms of the hyperparameters that are free
    G      n x n  dL / dK
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels, kernels_paired, kernels_tiled, parameters
from robustbo.numerics.gp.parameters import Block, LogNormal, LogNormals, Prior
from robustbo.numerics.linalg.lapack import as_tensor

MANY = 256  # points beyond which kernels come from products of inputs: faster there, exact to rounding of their squares
FACTORS = (1.0, 2.0, 0.5)  # of the prior's mode: length-scales of the starts

UNIT_SIGNAL = as_tensor(1.0)
LOG_L = (math.log(2.5e-2), math.log(1e3))  # the lower bound is BoTorch's
LOG_S2F = (math.log(1e-3), math.log(1e6))


class Covariance(NamedTuple):
    """A covariance matrix at some theta.

    Attributes:
        K: ``n x n`` covariance of the latent values.
        log_prior: Log prior density of theta.
        pullback: From dL/dK to the ``p`` derivatives of L plus the log prior.
        tangents: From ``n`` numbers w to the ``p x n`` derivatives of K w; None where only the pullback is known.
    """

    K: Tensor
    log_prior: float
    pullback: Callable[[Tensor], Tensor]
    tangents: Callable[[Tensor], Tensor] | None = None


class CovarianceFunction(NamedTuple):
    """A covariance as a function of theta.

    Attributes:
        at: The covariance at ``p`` hyperparameters.
        starts: Values of theta at which cold searches begin, the most plausible first.
        bounds: ``p`` pairs.
        prior_precision: ``p`` negative second derivatives of the log prior; None where `Covariance.tangents` is.
        priors: Priors of the ``p`` hyperparameters, as densities of what theta has the logarithms of.
        matrices: From ``B x p`` hyperparameters to ``B x n x n`` covariances; None where `Covariance.tangents` is.
    """

    at: Callable[[Tensor], Covariance]
    starts: tuple[Tensor, ...]
    bounds: list[tuple[float, float]]
    prior_precision: Tensor | None = None
    priors: tuple[Prior, ...] = ()
    matrices: Callable[[Tensor], Tensor] | None = None


def stationary_blocks(d: int, l_prior: LogNormal, s2f_prior: LogNormal | None) -> list[Block]:
    """The hyperparameters of a stationary kernel of ``d`` inputs; the signal variance is 1 where it has no prior."""
    starts = tuple(l_prior.log_mode + math.log(factor) for factor in FACTORS)
    signal = [] if s2f_prior is None else [Block("s2f", (0.0,), LOG_S2F, s2f_prior)]
    return [Block("l", starts, LOG_L, l_prior, d), *signal]


def stationary(X: Tensor, kernel: str, l_prior: LogNormal, s2f_prior: LogNormal | None) -> CovarianceFunction:
    """A stationary kernel with ARD: theta is log l, then log s2f unless ``s2f_prior`` is None, which fixes it at 1.

    Args:
        X: ``n x d`` inputs.
        kernel: A name of `kernels.KERNELS`.
        l_prior: Prior of each length-scale.
        s2f_prior: Prior of the signal variance.
    """
    d = X.shape[-1]
    form, inputs = (kernels_tiled, X) if len(X) > MANY else (kernels_paired, kernels_paired.point_pairs(X))
    blocks = stationary_blocks(d, l_prior, s2f_prior)
    each_prior = tuple(prior for prior in parameters.priors(blocks) if isinstance(prior, LogNormal))
    priors = LogNormals(each_prior)

    def at(theta: Tensor) -> Covariance:
        log_x = theta.numpy()
        x = as_tensor(np.exp(log_x))
        l, s2f = x[:d], UNIT_SIGNAL if s2f_prior is None else x[d]
        matrix = form.kernel_matrix(kernel, inputs, l, s2f)

        def back(G: Tensor) -> Tensor:
            log_l, log_s2f = form.pullback(G, inputs, l, matrix)
            slopes = priors.slopes(log_x)
            slopes[:d] += log_l.numpy()
            slopes[d:] += log_s2f.item()
            return as_tensor(slopes)

        def along(w: Tensor) -> Tensor:
            log_l = form.tangents(w, inputs, l, matrix)
            return log_l if s2f_prior is None else torch.cat([log_l, (matrix.K @ w).unsqueeze(0)])

        return Covariance(matrix.K, priors.log_density(log_x), back, along)

    squares = lru_cache(1)(lambda: kernels.squared_differences(X, X))

    def matrices(theta: Tensor) -> Tensor:
        x = theta.exp()
        s2f = x.new_ones(len(x)) if s2f_prior is None else x[:, d]
        return kernels.KERNELS[kernel](squares(), x[:, :d], s2f).K

    starts = tuple(parameters.starts(blocks, [X.new_empty(0)]))
    bounds, precision = parameters.bounds(blocks), as_tensor(priors.scale**-2)
    return CovarianceFunction(at, starts, bounds, precision, each_prior, matrices)
