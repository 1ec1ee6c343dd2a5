"""The likelihood of trials that ended with a value or failed: a probit with a rate of flakes.

A trial at a point whose latent value is h is viable with probability Phi(beta h), nearly a step. A viable one dies all
the same with probability e1, a flake; one that is not gives a value all the same with probability e0.

Notation (all ``n``):
    h    latent value, mean included
    s    1 where a trial ended with a value, -1 where it failed
    b    probability of the outcome where the latent value speaks against it: e0 for a value, e1 for a failure, and 0
         for a failure that somebody has said lies in its point
    c    1 - e0 - e1, one number
    beta sharpness of the step, one number, where latent values have a prior variance of 1
    t    beta s h
    p    probability of the outcome, b + c Phi(t)
    g    d log p / dh
    W    -d^2 log p / dh^2; negative where an outcome is taken for what its latent value does not explain

References:
    docs/equations.md section 15; Hernandez-Lobato, Hernandez-Lobato and Dupont (2011), Robust multi-class Gaussian
    process classification, for flips of labels.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from robustbo.numerics.gp.evidence import LOG_2PI
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

    def log_b(self, e1: float) -> Array:
        """``n`` logarithms of b; -inf where it is 0."""
        return np.where(self.is_ok, math.log(E0), np.where(self.is_sure, -math.inf, math.log(e1)))


class Terms(NamedTuple):
    """What a search for the mode needs: see `laplace.mode.Terms`; ``r`` is dlog p / dt, ``log_p`` each log p."""

    log_kernel: float
    g: Array
    W: Array
    r: Array
    t: Array
    log_p: Array


class Slopes(NamedTuple):
    """``n`` derivatives each of log p, g and W with respect to log e1."""

    log_p: Array
    g: Array
    W: Array


def terms(h: Array, s: Array, log_b: Array, log_c: float) -> Terms:
    """Of ``n`` latent values; exact however far out."""
    t = BETA * s * h
    log_p = np.logaddexp(log_b, log_c + log_ndtr(t))  # eq. 15.1
    r = np.exp(log_c - 0.5 * (t * t + LOG_2PI) - log_p)
    return Terms(float(log_p.sum()), BETA * s * r, BETA**2 * r * (t + r), r, t, log_p)  # eq. 15.2, eq. 15.3


def curvature_slope(at: Terms, s: Array) -> Array:
    """dW / dh."""
    return BETA**3 * s * at.r * (1 - (at.t + at.r) * (at.t + 2 * at.r))  # eq. 15.4


def by_log_e1(at: Terms, outcomes: Outcomes, e1: float) -> Slopes:
    """Derivatives with respect to log e1."""
    c, s = 1 - E0 - e1, outcomes.s
    on_b = np.where(np.logical_or(outcomes.is_ok, outcomes.is_sure), 0.0, 1.0)
    on_log_p = e1 * (on_b * np.exp(-at.log_p) - np.exp(log_ndtr(at.t) - at.log_p))  # eq. 15.5
    on_r = -at.r * (e1 / c + on_log_p)
    return Slopes(on_log_p, BETA * s * on_r, BETA**2 * (at.t + 2 * at.r) * on_r)  # eq. 15.6
