"""How many outliers: what a support must pay, in nats, to be believed.

A rule is the total penalty of a support of k among n observations; the best support has the largest F minus penalty,
with F the log posterior density at its best variances. Rules depend on the size alone, so the penalty of one more
outlier is a difference of totals. A `Penalty` is a rule that asks little for the second observation of a value which
recurs.

Notation:
    n    number of observations
    p    number of hyperparameters, the mean included
    k    size of the support

References:
    docs/equations.md sections 6 and 13; relevance pursuit, section 5.1 (the exponential prior on k).
"""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

Rule = Callable[[int], float]

PER_OUTLIER = 3.0  # nats an outlier at large n; see runs/selection
RATE = 0.1  # the outlier rate at which `PER_OUTLIER` holds
ALIKE = 1.0  # nats at most for one more observation of a recurring value: at a sensor that sticks, odds of 1 to e
BOTORCH_RATE = 0.2  # BoTorch's prior mean of k is int(0.2 n)


class Penalty(NamedTuple):
    """What a support must pay.

    A failure that always leaves the same number (a sensor that sticks, a default that is written) is one error that
    recurs: once one of its observations is paid for, each of the others costs `ALIKE`, or as little as a first outlier.

    Attributes:
        by_size: The rule for observations whose values do not recur.
        alike: Sets of observations of one recurring value; see `replicates.recurring`.

    Example:
        >>> penalty = Penalty(lambda k: 3.0 * k, (frozenset({0, 1, 2}),))
        >>> penalty.total([0, 1, 2, 5])
        8.0
    """

    by_size: Rule
    alike: tuple[frozenset[int], ...] = ()

    def total(self, support: Collection[int]) -> float:
        """Of all members together."""
        distinct = self._distinct(support)
        return self.by_size(distinct) + self._again * (len(support) - distinct)

    def of_one(self, support: Collection[int]) -> Callable[[int], float]:
        """What a member would save by leaving, or another would pay to join."""
        k, members = self._distinct(support), set(support)
        dear, cheap = self.by_size(k + 1) - self.by_size(k), self.by_size(k) - self.by_size(max(k - 1, 0))
        backed = {i for group in self.alike for i in group if (group & members) - {i}}
        again = self._again
        return lambda i: again if i in backed else cheap if i in members else dear

    def splits(self, support: Collection[int]) -> bool:
        """Whether some observations of a recurring value are in a support and others are not."""
        return any(0 < len(group.intersection(support)) < len(group) for group in self.alike)

    @property
    def _again(self) -> float:
        return min(ALIKE, self.by_size(1))

    def _distinct(self, support: Collection[int]) -> int:
        return len(support) - sum(max(len(group.intersection(support)) - 1, 0) for group in self.alike)


def corrected(n: int, p: int, penalty: float = PER_OUTLIER) -> Rule:
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
    return corrected(n, p, max(PER_OUTLIER + odds, 0.5))


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
