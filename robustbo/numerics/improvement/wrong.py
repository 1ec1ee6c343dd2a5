"""Probability that each value at one point is wrong, by Bayes' rule, given a prediction of the objective without them.

Each value is right or wrong. The right ones share the objective and differ by their noise; a wrong one has a wide
density of its own. The objective is what was predicted, with the tails of a Student-t distribution, since fitted models
are too sure of themselves; or it is surprising there, which is rare, and then it is anything that a wrong value may be.
One value far out is wrong or the objective is surprising, and nothing but another measurement tells which. Values that
agree on the scale of the noise clear each other, as surprising as they may be. Sets of right values with a wrong one in
between are left out: k values have some k^2 / 2 sets.

Notation:
    y         k   values at the point
    sigma     k   standard deviations of their noise
    mu, tau       what is expected of the objective there by whoever has not seen them
    c, s          center and scale of all outcomes
    R             set of right values, r of them
    w             probability that a value is wrong

References:
    docs/equations.md section 16. Box and Tiao (1968), A Bayesian approach to some outlier problems.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from robustbo.numerics.gp.wrong_density import (
    DOF,
    TINY,
    deviations,
    log_needle_tail,
    log_wrong_density,
    needle_probability,
)

LEAST = 1e-6  # of the scale of the outcomes: a noise below changes nothing
NOISE_DOF = 5.0  # of the noise within a point: 2 to 3 standard deviations among a few values still agree; docs, 16.4
LEAST_NOISE_DOF = 1.0  # where the values say nothing of the noise: their function may be rough, or they noisy


class PointBelief(NamedTuple):
    """Beliefs about the values at one point.

    Attributes:
        wrong: ``k`` probabilities that a value is wrong.
        surprising: The probability that the objective there is none that was predicted.
    """

    wrong: tuple[float, ...]
    surprising: float


class Agreement(NamedTuple):
    """Right values together.

    Attributes:
        mean: Their mean, by their precision.
        sd: Standard deviation of its error.
        log_density: Of their differences.
        factor: How much larger than it was known to be their noise has turned out, at least 1.
    """

    mean: float
    sd: float
    log_density: float
    factor: float


def judge_point(
    y: Sequence[float],
    mu: float,
    tau: float,
    noise: Sequence[float],
    *,
    center: float,
    scale: float,
    rate: float,
    noise_dof: float = NOISE_DOF,
) -> PointBelief:
    """Beliefs about the values at one point.

    Args:
        y: Values, at least one.
        mu: What is expected of the objective there.
        tau: Standard deviation of that, without noise.
        noise: Standard deviations of the noise, one a value.
        center: Of the outcomes.
        scale: Of the outcomes, positive: their robust standard deviation.
        rate: Prior probability of being wrong, in (0, 1).
        noise_dof: Degrees of freedom with which the noise is known, positive.

    Example:
        >>> def wrong(*y):
        ...     belief = judge_point(y, 0.0, 0.07, [0.07] * len(y), center=0, scale=1, rate=0.1)
        ...     return [round(w, 2) for w in belief.wrong]
        >>> wrong(0.1), wrong(2.0), wrong(2.0, 0.1), wrong(2.0, 2.02), wrong(-2.0, 2.0)
        ([0.0], [0.93], [1.0, 0.0], [0.02, 0.02], [0.9, 0.9])
    """
    order = sorted(range(len(y)), key=y.__getitem__)
    sigma = [max(noise[i], LEAST * scale, TINY) for i in range(len(y))]
    log_wrong = [log_wrong_density(y[i] - center, max(scale, math.hypot(tau, sigma[i]))) for i in order]
    before = [math.fsum(log_wrong[:i]) + i * math.log(rate) for i in range(len(y) + 1)]
    needle = needle_probability(rate)
    sets = {(0, 0): (before[-1] + math.log1p(-needle), before[-1] + math.log(needle))}  # first and last but one right
    for first in range(len(y)):
        for last in range(first + 1, len(y) + 1):
            right = agreement([y[i] for i in order[first:last]], [sigma[i] for i in order[first:last]], noise_dof)
            rest = before[first] + before[-1] - before[last] + (last - first) * math.log1p(-rate) + right.log_density
            as_predicted = log_student_t(right.mean - mu, math.hypot(tau, right.sd))
            off, wide = right.mean - center, max(scale, math.hypot(tau, right.sd))
            at_large = log_wrong_density(off, wide) + log_needle_tail(off, wide)
            sets[first, last] = (
                rest + as_predicted + math.log1p(-needle),
                rest + at_large + math.log(needle),
            )  # eq. 16.5
    most = max(map(max, sets.values()))
    weights = {of: tuple(math.exp(value - most) for value in pair) for of, pair in sets.items()}
    total = math.fsum(weight for pair in weights.values() for weight in pair)
    wrong = [0.0] * len(y)
    for place, i in enumerate(order):
        is_right = math.fsum(sum(pair) for (first, last), pair in weights.items() if first <= place < last)
        wrong[i] = min(max(0.0, 1 - is_right / total), 1.0)  # eq. 16.6
    surprising = math.fsum(pair[1] for pair in weights.values()) / total
    return PointBelief(tuple(wrong), min(surprising, 1.0))


def agreement(y: Sequence[float], sigma: Sequence[float], noise_dof: float = NOISE_DOF) -> Agreement:
    """The mean of values that are all right, and how well they agree: their noise is known up to a factor.

    Args:
        y: Values.
        sigma: Positive standard deviations of their noise.
        noise_dof: Degrees of freedom with which these are known.
    """
    least, r = min(sigma), len(y)
    precision = [(least / s) ** 2 for s in sigma]  # relative to the largest
    total = math.fsum(precision)
    mean = math.fsum(p / total * v for p, v in zip(precision, y, strict=True))
    W = math.fsum(deviations(v - mean, s) ** 2 for v, s in zip(y, sigma, strict=True))
    sd, m = least / math.sqrt(total), r - 1
    nu, volume = noise_dof, math.log(sd) - math.fsum(map(math.log, sigma))
    front = math.lgamma((nu + m) / 2) - math.lgamma(nu / 2) - m / 2 * math.log(nu * math.pi)
    log_density = volume + front - (nu + m) / 2 * math.log1p(W / nu)  # eq. 16.4
    return Agreement(mean, sd, log_density, math.sqrt(max(1.0, (nu + W) / (nu + m))))  # eq. 16.9


def log_student_t(error: float, sd: float) -> float:
    """Log density of an error, which is known to be a standard deviation up to a factor."""
    front = math.lgamma((DOF + 1) / 2) - math.lgamma(DOF / 2) - 0.5 * math.log(DOF * math.pi)
    return front - math.log(max(sd, TINY)) - (DOF + 1) / 2 * math.log1p(deviations(error, sd) ** 2 / DOF)  # eq. 16.3
