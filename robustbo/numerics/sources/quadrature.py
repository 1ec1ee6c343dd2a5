"""The evidence for an atom of one vector where a warp bends outcomes: an integral over its size, by quadrature.

Hyperparameters are held, and so is the covariance of warped outcomes; a size costs O(n^2).

Notation (no batch dimensions):
    z   n      observations
    a   n      an atom
    c   m      sizes
    P   n x n  inverse covariance of warped observations, the constant mean projected out

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.gp.warp import WarpedOutcomes
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.evidence import SIZES, Sizes

FARTHEST = 4 * max(SIZES)
COARSE = np.sinh(np.linspace(0.0, math.asinh(100 * FARTHEST), 40)) / 100  # finer near zero
FINE = np.linspace(0.0, 1.0, 24)
ROUNDS = 3  # of a finer grid about the highest point


def log_likelihoods(P: Array, z: Array, t: Sequence[float], members: NDArray[np.bool_], a: Array, c: Array) -> Array:
    """``m`` log likelihoods of observations without errors of some sizes, but for a constant.

    Args:
        P, z, a, c: As above.
        t: Coordinates of the warp.
        members: ``n`` booleans: which observations have a variance of their own.
    """
    bend = WarpedOutcomes(z - c[:, None] * a, t)
    jacobian = np.where(members, bend.log_secant, bend.log_slope).sum(-1)
    return jacobian - 0.5 * np.einsum("mi,mi->m", bend.y, bend.y @ P)  # eq. 20.10


def sizes_by_quadrature(P: Array, z: Array, t: Sequence[float], members: NDArray[np.bool_], a: Array) -> Sizes:
    """The size of an atom of one vector, as `evidence.sizes_of` has it."""

    def heights(c: Array) -> Array:
        densities = [-0.5 * np.square(c / size) - math.log(size * math.sqrt(2 * math.pi)) for size in SIZES]
        prior = np.logaddexp.reduce(densities, axis=0) - math.log(len(SIZES))
        return log_likelihoods(P, z, t, members, a, c) + prior

    c = np.unique(np.concatenate([-COARSE, COARSE]))
    h = heights(c)
    for _ in range(ROUNDS):
        top = int(h.argmax())
        low, high = c[max(top - 1, 0)], c[min(top + 1, len(c) - 1)]
        finer = np.setdiff1d(low + (high - low) * FINE, c)
        order = np.argsort(joint := np.concatenate([c, finer]))
        c, h = joint[order], np.concatenate([h, heights(finer)])[order]
    widths = np.gradient(c)
    weights = np.exp(h - h.max()) * widths
    log_integral = math.log(weights.sum()) + h.max()
    weights /= weights.sum()
    mean = float(weights @ c)
    sd = math.sqrt(float(weights @ np.square(c - mean)))
    log_factor = log_integral - float(log_likelihoods(P, z, t, members, a, np.zeros(1))[0])
    return Sizes(log_factor, np.array([mean]), np.array([sd]), math.hypot(mean, SIZES[0]))
