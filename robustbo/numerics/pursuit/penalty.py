"""Penalties on the number of outliers: what a support must pay, in nats, to be believed.

A rule is the total penalty of a support of k among n groups of observations (`replicates.Groups`: most are of one); the
best support has the largest F minus penalty, with F the log posterior density at its best variances. Rules depend on
the size alone, so the penalty of one more outlier is a difference of totals.

Notation:
    n    number of groups
    p    number of hyperparameters, the mean included
    k    size of the support

References:
    docs/equations.md sections 6 and 13; relevance pursuit, section 5.1 (the exponential prior on k).
"""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.gp.wrong_density import RATE
from robustbo.numerics.linalg.lapack import Array

Rule = Callable[[int], float]

PER_OUTLIER = 3.0  # nats an outlier at large n, at the outlier rate `RATE`; see runs/selection
ALIKE = 1.0  # nats for one more observation of a recurring value: at a sensor that sticks, odds of 1 to e
BOTORCH_RATE = 0.2  # BoTorch's prior mean of k is int(0.2 n)


class Penalty(NamedTuple):
    """Penalty of a support: by a rule for the number of its groups, and `ALIKE` for each observation beyond these.

    A failure that always leaves the same number (a sensor that sticks, a default that is written) is one error.

    Attributes:
        by_size: The rule.
        groups: Of which a support has some.

    Example:
        >>> penalty = Penalty(lambda k: 3.0 * k, Groups(((0, 1, 2),)))
        >>> penalty.total([0, 5])
        8.0
    """

    by_size: Rule
    groups: Groups = Groups()

    def total(self, support: Collection[int]) -> float:
        """Penalty of all groups of a support together."""
        return self.by_size(len(support)) + ALIKE * (len(self.groups.members(support)) - len(support))

    def of_another(self, support: Collection[int]) -> float:
        """Price of one more group of one observation."""
        k = len(support)
        return self.by_size(k + 1) - self.by_size(k)

    def prices(self, support: Collection[int], n: int) -> Array:
        """``n``: the price of each group, what it would save by leaving, or pay to join."""
        k = len(support)
        prices = np.full(n, self.of_another(support))
        prices[list(support)] = self.by_size(k) - self.by_size(max(k - 1, 0))
        for group in self.groups.recurring:
            prices[group[0]] += ALIKE * (len(group) - 1)
        return prices


def corrected_rule(n: int, p: int, penalty: float = PER_OUTLIER) -> Rule:
    """The default: ``penalty`` nats an outlier, times n / (n - (p + k)/2 - 1).

    The factor is the small-sample correction of Akaike's criterion (Hurvich and Tsai, 1989), hyperparameters (which
    have priors) and variances counted as half a parameter each: with few observations left for each, the likelihood
    rises by fitting alone. It is infinite where nothing is left.
    """

    def total(k: int) -> float:
        left = n - (p + k) / 2 - 1
        return 0.0 if k == 0 else penalty * k * n / left if left > 0 else math.inf

    return total


def of_rate(n: int, p: int, rate: float) -> Rule:
    """The default with a user's own outlier rate in (0, 1): halving its odds costs log 2 nats more an outlier."""
    odds = math.log((1 - rate) / rate) - math.log((1 - RATE) / RATE)
    return corrected_rule(n, p, max(PER_OUTLIER + odds, 0.5))


def botorch(n: int, mean: float | None = None) -> Rule:
    """BoTorch's: the exponential prior against the average log likelihood, n / mu nats an outlier (5 by default)."""
    mu = max(1, int(BOTORCH_RATE * n)) if mean is None else mean
    return lambda k: n * k / mu  # eq. 6.12


def paper(n: int, mean: float | None = None) -> Rule:
    """The paper's as printed: the exponential prior against the whole log likelihood, 1 / mu nats an outlier."""
    mu = max(1, int(BOTORCH_RATE * n)) if mean is None else mean
    return lambda k: k / mu  # eq. 6.12


def exactly(size: int) -> Rule:
    """A known number of outliers: each too many or too few costs more than a likelihood gives."""
    return lambda k: 1e9 * abs(k - size)
