"""The likelihood of trials that ended with a value or failed: a step with a rate of flakes.

A trial at a point whose latent value is h is viable with probability Phi(beta h), nearly a step. A viable one dies all
the same with probability e1, a flake; one that is not gives a value all the same with probability e0.

Notation (all ``n``):
    h    latent value, mean included, of prior variance 1
    s    1 where a trial ended with a value, -1 where it failed
    b    probability of the outcome where the latent value speaks against it: e0 for a value, e1 for a failure, and 0
         for a failure that somebody has said lies in its point
    beta sharpness of the step, one number
    c    1 - e0 - e1, one number
    p    probability of the outcome, b + c Phi(s beta h)

References:
    docs/equations.md section 15; Hernandez-Lobato, Hernandez-Lobato and Dupont (2011), Robust multi-class Gaussian
    process classification, for flips of labels.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from robustbo.numerics.linalg.lapack import Array

E0 = 1e-6  # a value is no accident: it is as good as certain that its point is viable
BETA = 32.0  # trials that fail by their points fail again: a boundary is as sharp as a thirtieth of what is around it


class Outcomes(NamedTuple):
    """What became of ``n`` trials.

    Attributes:
        is_ok: Whether each ended with a value.
        is_sure: Whether a failure is known to lie in its point.
    """

    is_ok: Array
    is_sure: Array

    @property
    def s(self) -> Array:
        """``n`` signs."""
        return np.where(self.is_ok, 1.0, -1.0)

    @property
    def may_flake(self) -> Array:
        """``n`` times 1 where a trial failed and nobody knows why, else 0."""
        return np.where(np.logical_or(self.is_ok, self.is_sure), 0.0, 1.0)

    def log_b(self, e1: float) -> Array:
        """``n`` logarithms of b; -inf where it is 0."""
        return np.where(self.is_ok, math.log(E0), np.where(self.is_sure, -math.inf, math.log(e1)))

    def log_c(self, e1: float) -> float:
        """The logarithm of c."""
        return math.log1p(-E0 - e1)


def log_outcome(u: Array, log_b: Array, log_c: float) -> Array:
    """log(b + c Phi(u)): of outcomes, where u is s beta h, or of what is expected of them; exact however far out."""
    return np.logaddexp(log_b, log_c + log_ndtr(u))  # eq. 15.1
