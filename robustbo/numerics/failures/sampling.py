"""Samples of the latent values, since what Laplace's approximation says of failed points is too mild.

A failure says that its latent value lies below zero, and hardly how far: the posterior is skewed, and the normal one of
the same mode and curvature leaves a fifth of its mass above zero where there is none. So hyperparameters come from
Laplace's approximation, and predictions from samples: elliptical slices around it, which need no tuning.

Notation (no batch dimensions), beside that of `map_fit`:
    C      n x n  Cholesky factor of K with jitter
    zeta   n x S  latent values less the mean, whitened: f = C zeta
    z      n x S  the same, whitened by Laplace's approximation: zeta = C^-1 f^ + T z

References:
    Murray, Adams and MacKay (2010), Elliptical slice sampling; docs/equations.md section 15.
"""

import math

import numpy as np
from scipy.special import log_ndtr

from robustbo.numerics.failures.likelihood import BETA
from robustbo.numerics.failures.map_fit import Given
from robustbo.numerics.laplace.approximation import Approximation
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

JITTER = 1e-6  # of the prior variance
SHRINKS = 30  # of a slice, after which a sample stays where it is


def samples(
    given: Given, laplace: Approximation, count: int, steps: int, generator: np.random.Generator
) -> tuple[Array, Array]:
    """Samples of the posterior.

    Args:
        given: The model at its hyperparameters.
        laplace: The approximation that the samples start from.
        count: How many.
        steps: Slices of each.
        generator: Of all that is drawn.

    Returns:
        C and zeta.
    """
    n = len(given.s)
    C, _ = lapack.factor(lapack.on_diagonal(given.K.copy(), JITTER))
    C = np.tril(C)
    W = np.maximum(laplace.W.numpy(), 0)
    G, _ = lapack.factor(np.eye(n) + C.T @ (W[:, None] * C))
    T = np.tril(lapack.forward(G, np.eye(n))).T
    both = np.concatenate([T, C @ T])
    center = lapack.forward(C, laplace.f.numpy())
    middle = np.concatenate([center, C @ center])[:, None]
    z = generator.normal(size=(n, count))
    at = both @ z

    def height(z: Array, at: Array) -> Array:
        """``S`` log densities, relative to that of the approximation."""
        zeta, f = middle[:n] + at[:n], middle[n:] + at[n:]
        log_ok = given.log_c + log_ndtr(BETA * given.s[:, None] * (given.m + f))
        log_p = np.logaddexp(given.log_b[:, None], log_ok).sum(0)
        return log_p + 0.5 * (np.square(z) - np.square(zeta)).sum(0)

    here = height(z, at)
    for _ in range(steps):
        other = generator.normal(size=(n, count))
        along, level = both @ other, here + np.log(generator.random(count))
        angle = 2 * math.pi * generator.random(count)
        low, high, left = angle - 2 * math.pi, angle.copy(), np.arange(count)
        for _ in range(SHRINKS):
            cos, sin = np.cos(angle[left]), np.sin(angle[left])
            there = z[:, left] * cos + other[:, left] * sin
            at_there = at[:, left] * cos + along[:, left] * sin
            found = height(there, at_there)
            is_in = found > level[left]
            kept = left[is_in]
            z[:, kept], at[:, kept], here[kept] = there[:, is_in], at_there[:, is_in], found[is_in]
            left = left[~is_in]
            if not len(left):
                break
            is_low = angle[left] < 0
            low[left], high[left] = np.where(is_low, angle[left], low[left]), np.where(is_low, high[left], angle[left])
            angle[left] = low[left] + (high[left] - low[left]) * generator.random(len(left))
    return C, middle[:n] + at[:n]
