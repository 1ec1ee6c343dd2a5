"""Value of one more row of any source for the best posterior mean of the target, in closed form.

Notation (no batch dimensions):
    mu       m      posterior means of the objective at the points among which the best is chosen
    sigma    m      by how much each moves when the new value is one standard deviation higher than expected
    c        n      covariance of the new value with all values
    k        m x n  covariance of the objective at these points with all values

References:
    Frazier, Powell and Dayanik (2009), The knowledge-gradient policy for correlated normal beliefs; Poloczek, Wang and
    Frazier (2017), Multi-information source optimization; docs/equations.md section 22.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from robustbo.numerics.linalg.lapack import Array


class Envelope(NamedTuple):
    """The upper envelope of lines mu + sigma z.

    Attributes:
        lines: The lines that are the highest somewhere, by rising slope.
        cuts: Where each but the first takes over.
    """

    lines: list[int]
    cuts: list[float]


def upper_envelope(mu: Array, sigma: Array) -> Envelope:
    """The lines that are the highest somewhere."""
    order = np.lexsort((mu, sigma)).tolist()
    means, slopes = mu.tolist(), sigma.tolist()
    lines, cuts = list[int](), list[float]()
    for i in order:
        cut = -math.inf
        while lines:
            rise = slopes[i] - slopes[lines[-1]]
            if rise <= 0:  # of equal slopes the higher comes later
                cut = -math.inf if not cuts else cuts[-1]
            else:
                cut = (means[lines[-1]] - means[i]) / rise
                if not cuts or cut > cuts[-1]:
                    break
            lines.pop()
            if cuts:
                cuts.pop()
            cut = -math.inf
        if lines:
            cuts.append(cut)
        lines.append(i)
    return Envelope(lines, cuts)


def knowledge_gradient(mu: Array, sigma: Array) -> float:
    """Expected rise of the best mean by one more value, E max(mu + sigma Z) - max mu."""
    lines, cuts = upper_envelope(mu, sigma)
    if not cuts:
        return 0.0
    z = np.array(cuts)
    Phi, phi = np.array([0.0, *ndtr(z), 1.0]), np.array([0.0, *np.exp(-0.5 * z * z), 0.0]) / math.sqrt(2 * math.pi)
    expected = mu[lines] @ np.diff(Phi) - sigma[lines] @ np.diff(phi)  # eq. 22.11
    return max(float(expected - mu.max()), 0.0)


def movements(k: Array, prior: Array, root: Array, c: Array, variance: Array) -> Array:
    """``q x m`` values of sigma, for ``q`` possible new values.

    Args:
        k: ``m x n`` covariances of the objective with all values.
        prior: ``q x m`` prior covariances of the new values with the objective.
        root: ``n x n``: its transpose times itself is the inverse covariance of all values.
        c: ``q x n`` covariances of the new values with all values.
        variance: ``q`` prior variances of the new values, noise included.
    """
    projected = c @ root.T
    left = np.maximum(variance - np.square(projected).sum(-1), 1e-12 * variance)
    moved: Array = (prior - projected @ (k @ root.T).T) / np.sqrt(left)[:, None]  # eq. 22.12
    return moved
