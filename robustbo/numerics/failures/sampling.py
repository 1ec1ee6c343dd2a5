"""Samples of the latent values, since a normal distribution says too mildly what is known of failed points.

The normal distribution that has the moments of a value below zero leaves a tenth of its mass above. Where points fail
for sure an ask would come back to them, as long as much is promised. So hyperparameters come from expectation
propagation, and predictions from samples: elliptical slices around its posterior, which need no tuning.

Notation (no batch dimensions), beside that of `propagation`:
    C      n x n  Cholesky factor of K with jitter
    zeta   n x S  latent values less the mean, whitened: f = C zeta
    z      n x S  the same, whitened by the approximation: zeta = C^-1 f^ + T z

References:
    Murray, Adams and MacKay (2010), Elliptical slice sampling; docs/equations.md section 15.
"""

import math

import numpy as np
from scipy.special import ndtr

from robustbo.numerics.failures.likelihood import BETA, Outcomes
from robustbo.numerics.failures.propagation import Approximation
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

JITTER = 1e-6  # of the prior variance
LEAST = 1e-100  # of a probability, so that its logarithm is one
SHRINKS = 30  # of a slice, after which a sample stays where it is


def draw_samples(
    K: Array,
    m: float,
    outcomes: Outcomes,
    e1: float,
    approximation: Approximation,
    count: int,
    steps: int,
    generator: np.random.Generator,
) -> tuple[Array, Array]:
    """Samples of the posterior.

    Args:
        K: ``n x n`` prior covariance.
        m: Constant mean.
        outcomes: What became of the trials there.
        e1: Rate of flakes.
        approximation: The approximation that the samples start from.
        count: How many.
        steps: Slices of each.
        generator: Of all that is drawn.

    Returns:
        C and zeta.
    """
    n = len(K)
    C, _ = lapack.factor(lapack.on_diagonal(K.copy(), JITTER))
    C = np.tril(C)
    G, _ = lapack.factor(np.eye(n) + C.T @ (approximation.sites.tau[:, None] * C))
    T = np.tril(lapack.forward(G, np.eye(n))).T
    both = np.concatenate([T, C @ T])
    center = lapack.forward(C, K @ approximation.a)
    middle = np.concatenate([center, C @ center])[:, None]
    b = np.maximum(np.exp(outcomes.log_b(e1)), LEAST)[:, None]
    c, slope = np.exp(outcomes.log_c(e1))[:, None], BETA * outcomes.s[:, None]
    z = generator.normal(size=(n, count))
    at = both @ z

    def height(z: Array, at: Array) -> Array:
        """``S`` log densities, relative to that of the approximation."""
        zeta, f = middle[:n] + at[:n], middle[n:] + at[n:]
        log_p = np.log(b + c * ndtr(slope * (m + f))).sum(0)
        return log_p + 0.5 * (np.square(z) - np.square(zeta)).sum(0)

    heights = height(z, at)
    for _ in range(steps):
        other = generator.normal(size=(n, count))
        along, level = both @ other, heights + np.log(generator.random(count))
        angle = 2 * math.pi * generator.random(count)
        low, high, left = angle - 2 * math.pi, angle.copy(), np.arange(count)
        for _ in range(SHRINKS):
            cos, sin = np.cos(angle[left]), np.sin(angle[left])
            proposal = z[:, left] * cos + other[:, left] * sin
            at_proposal = at[:, left] * cos + along[:, left] * sin
            tall = height(proposal, at_proposal)
            is_in = tall > level[left]
            accepted = left[is_in]
            z[:, accepted], at[:, accepted], heights[accepted] = proposal[:, is_in], at_proposal[:, is_in], tall[is_in]
            left = left[~is_in]
            if not len(left):
                break
            is_low = angle[left] < 0
            low[left], high[left] = np.where(is_low, angle[left], low[left]), np.where(is_low, high[left], angle[left])
            angle[left] = low[left] + (high[left] - low[left]) * generator.random(len(left))
    return C, middle[:n] + at[:n]
