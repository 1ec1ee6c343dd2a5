"""The evidence that values vary smoothly over their points, against values that are a constant and noise.

Notation:
    X   n x d   points in the unit cube
    y   n       values, of noise of one variance
    R   n x n   Matern-5/2 correlations
    f           share of the noise in the variance
    K   n x n   (1 - f) R + f I

Cost: O(n^3) a length-scale, of which there are 4 + 2 d.

References:
    docs/equations.md section 21; Berger, De Oliveira and Sanso (2001) for the integrated likelihood.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from robustbo.numerics.gp.kernels import matern52
from robustbo.numerics.linalg.lapack import Array

SHARES = np.array([0.02, 0.2, 0.5])  # of noise
LENGTHS = (0.2, 0.5, 1.0, 2.0)  # times the root of the number of dimensions: of all coordinates together
ALONE = (0.3, 1.0)  # of one coordinate


def log_evidence(X: Array, y: Array) -> float:
    """The log Bayes factor of a smooth function of the points and noise, against noise around a constant.

    The mean and the variance are integrated out, so that it is the same in any units; of equal values it is -inf.

    Args:
        X: ``n x d`` points in the unit cube.
        y: ``n`` values, two at least.

    Example:
        >>> X = np.linspace(0, 1, 10)[:, None]
        >>> log_evidence(X, X[:, 0]) > 3, log_evidence(X, np.array([1.0, -1.0] * 5)) < 0
        (True, True)
    """
    y = y - y.mean()
    if not (size := np.abs(y).max()) > 0:
        return -math.inf
    y = y / size
    null = -0.5 * math.log(len(y)) - 0.5 * (len(y) - 1) * math.log(y @ y)  # (21.2) with K = I
    kinds = [_log_densities(X, y, together=True), _log_densities(X, y, together=False)]
    means = [logsumexp(kind) - math.log(len(kind)) for kind in (np.concatenate([*of]) for of in kinds)]
    return float(logsumexp(means) - math.log(len(means)) - null)  # eq. 21.3


def _log_densities(X: Array, y: Array, *, together: bool) -> Iterator[Array]:
    """Log densities of the values, an array of one a share of noise for each length-scale."""
    differences = np.square(X[:, None] - X[None])
    parts = [differences.sum(-1)] if together else [differences[..., j] for j in range(X.shape[-1])]
    for part in parts:
        for length in LENGTHS if together else ALONE:
            scale = length * math.sqrt(X.shape[-1]) if together else length
            v, V = np.linalg.eigh(matern52(part / scale**2, 0.0)[0])
            k = (1 - SHARES)[:, None] * v.clip(0.0) + SHARES[:, None]
            sums, values = V.sum(0), V.T @ y
            a, b, c = ((u * w / k).sum(-1) for u, w in ((sums, sums), (sums, values), (values, values)))
            yield -0.5 * (np.log(k).sum(-1) + np.log(a) + (len(y) - 1) * np.log(c - b * b / a))  # eq. 21.2
