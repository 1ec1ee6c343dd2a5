"""What a value says of itself and of others: surprise, agreement, refutation, and the probability that it is wrong.

Each is defined here once. Two values agree where they are within a tolerance, of which there are three:

    replicates in doubt      half as far as the farther is from what was expected when they were asked for
    a flagged value          half as far as it is from what all the others expect now, and not just that far
    two believed values      `NEAR` standard deviations of what the others expect

(A fourth, of the noise, is the surrogates' own: `numerics.gp.replicates.agreeing`.) A value is refuted in two ways:
beside a credible one, by its surprise (`refuted`), and where it is flagged, by having no value near (`refutes`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.improvement.value_of_information import chance_of_error

Expectation = tuple[float, float]  # what is expected, and its standard deviation, noise included

BEYOND_BELIEF = 8.0  # nats of surprise at which a disappointing value is quarantined
CREDIBLE = 3.0  # nats of surprise up to which a value is taken as expected
CLEAR = 4.0  # nats that tell two disagreeing values apart
NEAR = 3.0  # standard deviations up to which two believed values agree
TINY, HUGE = 1e-300, 1e100  # bounds of a standard deviation and of how many of them a value is off


class Word(NamedTuple):
    """What is said of a value without looking at the others at its point.

    Attributes:
        expected: What the others predict.
        sd: Standard deviation of that, noise included.
        evidence: Nats against it.
        flagged: Whether it is taken for an outlier.
        weight: How much it counts, where that has been asked.
    """

    expected: float
    sd: float
    evidence: float
    flagged: bool
    weight: float | None


def surprise(value: float, expected: float, sd: float) -> float:
    """Nats that a value gains by a variance of its own, given what was expected of it.

    Example:
        >>> surprise(2.0, 2.5, 1.0), round(surprise(-2.5, 2.5, 1.0), 2)
        (0.0, 10.39)
    """
    deviation = min(abs(value - expected) / max(sd, TINY), HUGE)
    return gain(torch.tensor(deviation, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)).item()


def is_credible(value: float, expected: float, sd: float) -> bool:
    """Whether a value is as expected."""
    return surprise(value, expected, sd) <= CREDIBLE


def agree(a: float, b: float, within: float, *, is_closed: bool = True) -> bool:
    """Whether two values are within a tolerance, which includes those just that far apart if it is closed."""
    return abs(a - b) <= within if is_closed else abs(a - b) < within


def half_way(expected: float, *values: float) -> float:
    """Half as far as the farthest of some values is from what is expected."""
    return max(abs(value - expected) for value in values) / 2


def refuted(values: Sequence[float], expected: Expectation | None) -> list[bool]:
    """Which values at one point are beyond belief beside a credible one there; none where nothing was expected."""
    gains = [math.inf if expected is None else surprise(value, *expected) for value in values]
    least = min(gains, default=math.inf)
    return [least <= CREDIBLE and g > max(CREDIBLE, least + CLEAR) for g in gains]


def refutes(others: Iterable[float], value: float, expected: float) -> bool:
    """Whether none of the others at its point is nearer to a flagged value than half way to what is expected."""
    within = half_way(expected, value)
    return not any(agree(other, value, within, is_closed=False) for other in others)


def probability_wrong(evidence: float, value: float, asked: Expectation | None) -> float:
    """The probability that a value is wrong, by the greater of the evidence and its surprise.

    Args:
        evidence: Nats against all the others.
        value: It.
        asked: What was expected of it when it was asked for.
    """
    g = evidence if asked is None else max(surprise(value, *asked), evidence)
    return chance_of_error(torch.tensor(g, dtype=torch.float64)).item()
