"""Probability that each value at one point is wrong, by Bayes' rule, given a prediction of the objective without them.

Each value is right or wrong. The right ones share the objective, and what is known of it predicts them; a wrong one has
a wide density of its own. A fitted model is too sure of itself: the error of its prediction has a Student-t density,
and counts once for all right values together. So values that agree clear each other, surprising as they may be. Sets of
right values with a wrong one in between are left out: k values have some k^2 / 2 sets.

Notation:
    y         k   values at the point
    mu, sd        what is expected of a value there by whoever has not seen them, noise included
    c, s          center and scale of all outcomes
    R             set of right values, r of them
    w             probability that a value is wrong

References:
    docs/equations.md section 16. Box and Tiao (1968), A Bayesian approach to some outlier problems.
"""

import math
from collections.abc import Sequence

DOF = 3.0  # of a prediction by fitted hyperparameters; it and `WIDTH` by log loss, see docs/equations.md
WIDTH = 3.0  # of a wrong value's density, in scales of the outcomes
NOISE = 0.5  # share of the noise in the variance of a prediction, where it is not known
TINY, HUGE = 1e-300, 1e100  # bounds of a standard deviation and of how many of them a value is off


def probability_wrong(
    y: Sequence[float], mu: float, sd: float, *, center: float, scale: float, rate: float
) -> tuple[float, ...]:
    """The probability that each of the values at one point is wrong.

    Args:
        y: Values, at least one.
        mu: What is expected of a value there.
        sd: Standard deviation of that, noise included; positive.
        center: Of the outcomes.
        scale: Of the outcomes, positive.
        rate: Prior probability of being wrong, in (0, 1).

    Example:
        >>> def found(*y): return [round(w, 2) for w in probability_wrong(y, 0.0, 0.1, center=0, scale=1, rate=0.1)]
        >>> found(0.1), found(1.0), found(1.0, 0.1), found(1.0, 1.02), found(-1.0, 1.0)
        ([0.01], [0.77], [1.0, 0.01], [0.02, 0.02], [0.81, 0.81])
    """
    order = sorted(range(len(y)), key=y.__getitem__)
    log_wrong = [log_density(y[i], center, scale) + math.log(rate) for i in order]
    before = [math.fsum(log_wrong[:i]) for i in range(len(y) + 1)]
    sets = {(0, 0): before[-1]}  # the first and the last but one of those that are right
    for first in range(len(y)):
        for last in range(first + 1, len(y) + 1):
            right = [y[i] for i in order[first:last]]
            log_right = log_together(right, mu, sd) + len(right) * math.log1p(-rate)
            sets[first, last] = before[first] + log_right + before[-1] - before[last]  # eq. 16.3
    most = max(sets.values())
    weights = {of: math.exp(value - most) for of, value in sets.items()}
    total, w = math.fsum(weights.values()), [0.0] * len(y)
    for place, i in enumerate(order):
        is_right = math.fsum(weight for (first, last), weight in weights.items() if first <= place < last)
        w[i] = max(0.0, 1 - is_right / total)  # eq. 16.4
    return tuple(w)


def log_density(y: float, center: float, scale: float) -> float:
    """Log density of a wrong value: a Cauchy distribution as wide as the outcomes are."""
    s = WIDTH * scale
    return -math.log(math.pi * s) - 2 * math.log(math.hypot(1.0, deviations(y - center, s)))  # eq. 16.1


def log_together(y: Sequence[float], mu: float, sd: float) -> float:
    """Log density of values that are all right: their mean has a Student-t density, their differences normal ones."""
    r, mean = len(y), math.fsum(v / len(y) for v in y)
    shared = NOISE + r * (1 - NOISE)  # variance of sqrt(r) times their mean, in that of one value
    within = math.fsum(deviations(v - mean, sd) ** 2 for v in y) / NOISE
    log_sd = math.log(max(sd, TINY))
    q = r * deviations(mean - mu, sd) ** 2 / shared
    front = math.lgamma((DOF + 1) / 2) - math.lgamma(DOF / 2) - 0.5 * math.log(DOF * math.pi * shared)
    of_mean = front - log_sd - (DOF + 1) / 2 * math.log1p(q / DOF)
    return of_mean - within / 2 - (r - 1) * (log_sd + 0.5 * math.log(2 * math.pi * NOISE))  # eq. 16.2


def deviations(error: float, sd: float) -> float:
    """Error in standard deviations, bounded so that its square is a number."""
    return min(abs(error) / max(sd, TINY), HUGE)
