"""The likelihood of what became of the trials at a place: a step with a rate of flakes.

A trial at a point whose latent value is h is viable with probability Phi(beta h), nearly a step. A viable one dies all
the same with probability e1, a flake; one that is not gives a value all the same with probability e0. Trials at one
place share what it is: where one gave a value, those that failed were flakes.

Notation (all ``n``, one for each place):
    h    latent value, mean included, of prior variance 1
    s    1 where a trial ended with a value, -1 where all failed
    k    how many failed, but for those that are known to be flakes
    K    how many ended with a value
    b    probability of the outcome where the latent value speaks against it: e0 for a value, e1^k for failures, and 0
         for a failure that somebody has said lies in its point
    beta sharpness of the step, one number
    c    1 - e0 - e1 for a value, 1 - e0 - b for failures
    p    probability of the outcome, b + c Phi(s beta h); of values times e1^k (1 - e1)^(K - 1)

References:
    docs/equations.md section 15; Hernandez-Lobato, Hernandez-Lobato and Dupont (2011), Robust multi-class Gaussian
    process classification, for flips of labels.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from robustbo.numerics.linalg.lapack import Array

E0 = 1e-6  # a value is no accident: it is as good as certain that its point is viable
BETA = 32.0  # trials that fail by their points fail again: a boundary is as sharp as a thirtieth of what is around it


class Outcomes(NamedTuple):
    """Outcomes of the trials at ``n`` places.

    Attributes:
        K: How many ended with a value.
        k: How many failed, but for those that are known to be flakes.
        is_sure: Whether a failure is known to lie in its point.
    """

    K: Array
    k: Array
    is_sure: NDArray[np.bool_]

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Return of each place whether a trial there ended with a value."""
        return self.K > 0

    @property
    def s(self) -> Array:
        """``n`` signs."""
        return np.where(self.is_ok, 1.0, -1.0)

    def log_b(self, e1: float) -> Array:
        """``n`` logarithms of b; -inf where it is 0."""
        return np.where(self.is_ok, math.log(E0), np.where(self.is_sure, -math.inf, self.k * math.log(e1)))

    def log_c(self, e1: float) -> Array:
        """``n`` logarithms of c."""
        return np.log1p(-E0 - np.where(self.is_ok, e1, np.exp(self.log_b(e1))))

    def flakes(self, e1: float) -> float:
        """The log probability of what is not in p: flakes where others gave a value, and further values."""
        return float(self.k @ self.is_ok) * math.log(e1) + float(self._further.sum()) * math.log1p(-e1)

    @property
    def _further(self) -> Array:
        """``n`` values beyond the first."""
        return np.maximum(self.K - 1, 0)

    def scores(self, u: Array, log_p: Array, e1: float) -> Array:
        """``n`` derivatives of log p with respect to log e1, u being s beta h or what `log_outcome` took."""
        failed = np.where(self.is_sure, 0.0, self.k * np.exp(self.log_b(e1) + log_ndtr(-u) - log_p))
        further = self.k - self._further * e1 / (1 - e1)
        return np.where(self.is_ok, further - e1 * np.exp(log_ndtr(u) - log_p), failed)  # eq. 15.8


def log_outcome(u: Array, log_b: Array, log_c: Array) -> Array:
    """log(b + c Phi(u)): of outcomes, where u is s beta h, or of what is expected of them; exact however far out."""
    return np.logaddexp(log_b, log_c + log_ndtr(u))  # eq. 15.1
