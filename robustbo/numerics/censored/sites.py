"""Normal pseudo-values in place of bounds, by expectation propagation; and heaps of values at a limit.

A value that is known to be at most c says of the latent value f at its point that f plus noise is at most c, or that
the bound is wrong. That is a step, as in the model of failures, whose machinery serves here: the sites at which the
moments agree are normal observations of the latent values, and a GP takes them beside its values. A bound that is
contradicted and may be wrong moves the mean and widens the distribution, which no observation does: it becomes one that
moves the mean as far, with little precision.

Notation (no batch dimensions; all ``k``, one for each bound, unless stated otherwise):
    f      latent values; a GP of the values alone predicts them with mean m and covariance C (k x k)
    c      the limits
    s      1 where the value is at most its limit, -1 where it is at least
    sd     standard deviation of the noise of a measurement there
    eps    prior probability that a bound is wrong
    W      probability that a wrong value keeps the bound
    tau    precisions of the sites, not negative
    nu     their precisions times means, of f - m
    a      pulls of the bounds: what each moves the mean of f - m by, per unit of the variance without it
    mu     means of f - m by all
    Z      probability of the bound by all values and the other bounds

References:
    docs/equations.md section 18; Rasmussen and Williams (2006), section 3.6; Tobin (1958), Estimation of relationships
    for limited dependent variables.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, log_ndtr

from robustbo.numerics.failures.propagation import StepLikelihood, settle
from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

VAGUE = 1e-4  # of the precision of what is predicted: the least of a site, at which it says nothing
FARTHEST = 2.0  # sd of its error that a pseudo-value may be from the mean by all, where its bound may be wrong
NEARLY = 1e-9  # of the variance: sites as precise would leave nothing of what the values alone predict


class Bounds(NamedTuple):
    """Bounds, and how probable it is that one is wrong.

    Attributes:
        c: ``k``.
        s: ``k``.
        sd: ``k``, positive.
        log_b: ``k`` logarithms of eps W; -inf for a bound that cannot be wrong.
        eps: ``k``.
    """

    c: Array
    s: Array
    sd: Array
    log_b: Array
    eps: Array


class PseudoValues(NamedTuple):
    """Normal observations of the latent values that say what bounds do.

    Attributes:
        y: ``k`` values.
        variance: ``k`` variances of their errors.
        mean: ``k`` latent values as all values and the other bounds predict them.
        sd: ``k`` standard deviations of these.
        wrong: ``k`` probabilities that a bound is wrong.
        evidence: ``k`` nats by which it gains if it has an error of its own.
        L: Log probability of all bounds together.
    """

    y: Array
    variance: Array
    mean: Array
    sd: Array
    wrong: Array
    evidence: Array
    L: float


def pseudo_values(m: Array, C: Array, bounds: Bounds) -> PseudoValues:
    """The normal observations that say what bounds do.

    Args:
        m: ``k`` means of the latent values by the values alone.
        C: ``k x k`` covariance of these.
        bounds: The bounds there.

    Example:
        >>> import numpy as np
        >>> one = np.ones(1)
        >>> bounds = Bounds(c=0 * one, s=one, sd=1e-3 * one, log_b=-np.inf * one, eps=0 * one)
        >>> told = pseudo_values(0 * one, np.eye(1), bounds)
        >>> precision = 1 + 1 / told.variance
        >>> [round(x.item(), 3) for x in (told.y / told.variance / precision, 1 / precision)]  # a half normal
        [-0.798, 0.363]
    """
    r = math.sqrt(float(np.mean(C.diagonal())))
    steps = StepLikelihood((m - bounds.c) / r, -bounds.s, bounds.log_b, np.log1p(-bounds.eps), r / bounds.sd)
    at = settle(C / r**2, steps)  # eq. 18.1 by eq. 15.2 to 15.5
    tau, nu, mu_, v_ = at.sites.tau / r**2, at.sites.nu / r, r * at.mu_, r**2 * at.v_
    a = (nu - tau * mu_) / (1 + tau * v_)
    mu = mu_ + v_ * a
    least = np.minimum(np.square(a), 1 / (v_ + np.square(bounds.sd))) / FARTHEST**2
    precision = np.maximum(np.maximum(tau, least), VAGUE / C.diagonal())
    y = m + (nu + (precision - tau) * mu) / precision  # eq. 18.2
    mean, sd = m + mu_, np.sqrt(v_)
    return PseudoValues(y, 1 / precision, mean, sd, *verdict(mean, np.hypot(sd, bounds.sd), bounds), at.L)


def verdict(mean: Array, sd: Array, bounds: Bounds) -> tuple[Array, Array]:
    """The probabilities that bounds are wrong, and the evidence against each, by predictions of measurements.

    Args:
        mean: ``k`` means of a measurement, by all but the bound.
        sd: ``k`` standard deviations, noise included.
        bounds: The bounds.
    """
    log_kept = _log_probabilities(mean, sd, bounds)
    log_Z = np.logaddexp(bounds.log_b, np.log1p(-bounds.eps) + log_kept)
    return np.exp(bounds.log_b - log_Z), -log_kept  # eq. 18.3


def highest_log_probability(m: Array, C: Array, bounds: Bounds) -> float:
    """The most that the log probability of all bounds together can be: that of the least probable one.

    Args:
        m: ``k`` means of the latent values by the values alone.
        C: ``k x k`` covariance of these.
        bounds: The bounds, none of which can be wrong.

    Example:
        >>> one, m, C = np.ones(2), np.zeros(2), np.eye(2)
        >>> bounds = Bounds(c=np.array([0.0, -2.0]), s=one, sd=0.01 * one, log_b=-np.inf * one, eps=0 * one)
        >>> round(highest_log_probability(m, C, bounds), 2), round(pseudo_values(m, C, bounds).L, 2)
        (-3.78, -4.48)
    """
    return float(_log_probabilities(m, np.sqrt(C.diagonal() + bounds.sd**2), bounds).min())


def _log_probabilities(mean: Array, sd: Array, bounds: Bounds) -> Array:
    """``k`` log probabilities that measurements keep to their bounds."""
    with np.errstate(over="ignore"):  # as far out as a number can be, and so is the ratio
        return log_ndtr(bounds.s * (bounds.c - mean) / sd)


def without_sites(mean: Array, covariance: Array, y: Array, variance: Array) -> tuple[Array, Array]:
    """Latent values as the values alone predict them, from what they and the pseudo-values predict.

    Args:
        mean: ``k`` means by all.
        covariance: ``k x k``.
        y: ``k`` pseudo-values.
        variance: ``k`` variances of their errors.
    """
    root = 1 / np.sqrt(variance)
    half = root[:, None] * covariance
    left = np.eye(len(mean)) - half * root  # positive definite: the sites are part of what is known
    low, rotation = np.linalg.eigh(0.5 * (left + left.T))
    gain = rotation @ ((rotation.T @ half) / np.maximum(low, NEARLY)[:, None])
    return mean - gain.T @ (root * (y - mean)), covariance + half.T @ gain  # eq. 18.4


def log_probability_of_values(m: Array, C: Array, bounds: Bounds, step: float) -> float:
    """Log probability of values that stand at their limits, if they were measured, with numbers written in steps.

    Args:
        m: ``k`` means by the other values.
        C: ``k x k``.
        bounds: Their limits and noise.
        step: The step between two numbers as they are written.
    """
    factor, _ = lapack.factor(lapack.on_diagonal(C.copy(), np.square(bounds.sd)))
    white = lapack.forward(factor, (bounds.c - m)[:, None])[:, 0]
    k = len(m)
    log_density = -0.5 * float(white @ white) - float(np.log(factor.diagonal()).sum()) - 0.5 * k * LOG_2PI
    return log_density + k * math.log(step)  # eq. 18.5


def log_probability_of_stuck_sensor(k: int, n: int) -> float:
    """Log probability that k of n values are the same whatever is measured, at an unknown rate."""
    return float(betaln(k + 1, n - k + 1))  # eq. 18.6
