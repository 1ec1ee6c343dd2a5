"""Evidence for error atoms at held hyperparameters, in closed form: all steps of a source by cumulative sums.

Notation (no batch dimensions):
    a   n      an atom of one vector; A (n x k) one of several
    P   n x n  inverse covariance of the observations, the constant mean projected out: P1 = 0
    al  n      P y
    t          a' al
    s          a' P a
    w          prior variance of the atom's size c

References:
    docs/equations.md section 20.
"""

import math
from typing import NamedTuple

import numpy as np

from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.atoms import Rows

SIZES = (0.1, 0.4, 1.6, 6.4)  # prior standard deviations of a size, in those of the outcomes, equally probable
VARIANCES = np.square(SIZES)
LEAST = 1e-6  # length of a sum of an atom's vectors that is nothing but rounding


class Precision(NamedTuple):
    """The observations as a fit has them.

    Attributes:
        P: ``n x n`` inverse covariance, the constant mean projected out.
        al: ``n`` P times the observations.
    """

    P: Array
    al: Array


def project_mean(P: Array, y: Array) -> Precision:
    """The precision with the constant mean projected out of an inverse covariance."""
    P1 = P.sum(-1)
    total = P1.sum()
    return Precision(P - np.outer(P1, P1) / total, P @ y - P1 * (P1 @ y / total))  # eq. 20.1


def statistics(precision: Precision, A: Array) -> tuple[Array, Array]:
    """``k`` values of t and s of atoms ``n x k``, of one vector each."""
    return A.T @ precision.al, np.einsum("ik,ik->k", A, precision.P @ A)


def step_statistics(precision: Precision, rows: Rows) -> tuple[Array, Array]:
    """``m`` values of t and s of the steps from each of ``m`` rows on to the last: O(m^2)."""
    t = precision.al[rows][::-1].cumsum()[::-1]
    inner = precision.P[np.ix_(rows, rows)]
    s = (inner.diagonal() + 2 * np.triu(inner, 1).sum(-1))[::-1].cumsum()[::-1]  # eq. 20.5
    return t, s


def _heights(t: Array, s: Array) -> Array:
    """Log Bayes factors with each prior variance, ``... x 4``."""
    s = np.maximum(s, 0.0)[..., None]
    return 0.5 * (np.square(t)[..., None] * VARIANCES / (1 + VARIANCES * s) - np.log1p(VARIANCES * s))  # eq. 20.3


def log_bayes_factors(t: Array, s: Array) -> Array:
    """Log Bayes factors of atoms of one vector against none, the size integrated over its prior."""
    return np.logaddexp.reduce(_heights(t, s), axis=-1) - math.log(len(VARIANCES))  # eq. 20.4


class Sizes(NamedTuple):
    """Posterior distribution of the sizes of an atom, in the units of the observations.

    Attributes:
        log_factor: Log Bayes factor of the atom against none.
        means: ``k`` posterior means.
        sds: ``k`` posterior standard deviations.
        spread: A prior standard deviation that is likely.
    """

    log_factor: float
    means: Array
    sds: Array
    spread: float


def sizes_of(precision: Precision, A: Array) -> Sizes:
    """The sizes of an atom of ``k`` vectors, which are independent and of one prior variance.

    Of sizes that add up to nothing, as those of a block effect, their sum is known.
    """
    values, V = np.linalg.eigh(A.T @ (precision.P @ A))
    values, z = np.maximum(values, 0.0), V.T @ (A.T @ precision.al)
    heights = _heights(z, values).sum(0)  # eq. 20.6
    log_factor = float(np.logaddexp.reduce(heights)) - math.log(len(heights))
    weights = np.exp(heights - np.logaddexp.reduce(heights))
    is_seen = np.linalg.norm(A @ V, axis=0) > LEAST
    shrunk = np.where(is_seen[:, None], VARIANCES / (1 + VARIANCES * values[:, None]), 0.0)
    by_variance = V @ (shrunk * z[:, None])  # eq. 20.7
    means = by_variance @ weights
    second = (np.square(V) @ shrunk + np.square(by_variance)) @ weights
    spread = float(np.sqrt(weights @ VARIANCES)) if len(z) > 1 else math.hypot(means[0], SIZES[0])
    return Sizes(log_factor, means, np.sqrt(np.maximum(second - np.square(means), 0.0)), spread)


def log_factor_of(precision: Precision, A: Array) -> float:
    """Log Bayes factor of an atom of ``n x k`` numbers, whose sizes are independent and of one prior variance."""
    values, V = np.linalg.eigh(A.T @ (precision.P @ A))
    heights = _heights(V.T @ (A.T @ precision.al), np.maximum(values, 0.0)).sum(0)
    return float(np.logaddexp.reduce(heights)) - math.log(len(heights))
