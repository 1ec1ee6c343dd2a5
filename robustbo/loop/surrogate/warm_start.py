"""Warm starts: a search begins where that of some of its observations ended.

What is believed must not depend on the order in which values were told. So the beginning follows from the set of them:
it is the fit to the first `sample_size` in their own order (`Observations.in_own_order`), which is that of a hash, so
that they are a fair sample. Of up to `ROOT` a search begins from nothing: a sample of a handful may hide a block of
wrong values, or take them for a warp, and the search of all then stays there. A value more changes the sample only if
it comes among its first. So an ask makes one small fit or none beside its own, whether a study goes on, was resumed, or
is replayed, and so it does where a value is left out: excluded, quarantined or refuted.

What a surrogate makes of a beginning is its own ``continue_from``.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.loop.observations.units import Units

STEP = 10  # trials between two counts at which a search of few begins anew, see `anchor`
SHARE = 32  # of many, the step is between 1/32 and 1/16 of them
ROOT = 64  # observations of which a search begins from nothing; of the smaller sample
RATIO = 4.0  # of the typical distances of two sets of values, beyond which one search is no beginning of the other
MOST = 256  # observations of the larger sample; of more the hyperparameters are known well enough


class WarmStart(NamedTuple):
    """The end of a fit, where another begins, without all that predictions need.

    Attributes:
        numbers: The trials it was fitted to, in order.
        units: Of the model.
        spread: Typical distance of its values from their median.
        state: Where its search ended, as the surrogate has it; None where it does not tell.
    """

    numbers: tuple[int, ...]
    units: Units
    spread: float
    state: Any

    def rows_of(self, numbers: tuple[int, ...]) -> Tensor:
        """The index of each of some trials among those that it was fitted to, or -1."""
        place = {number: i for i, number in enumerate(self.numbers)}
        return torch.tensor([place.get(number, -1) for number in numbers])

    def serves(self, spread: float) -> bool:
        """Return whether a search of observations of this typical distance may begin here."""
        return self.spread / RATIO <= spread <= self.spread * RATIO


def sample_size(n: int) -> int | None:
    """The number, of n observations, that the fit sees where a search begins; None where it is to begin from nothing.

    Example:
        >>> [sample_size(n) for n in (64, 65, 256, 257, 2000)]
        [None, 64, 64, 256, 256]
    """
    return None if n <= ROOT else ROOT if n <= MOST else MOST


def anchor(n: int, share: int = SHARE) -> int:
    """The last of n counts at which a search begins anew, where of many the step is about a share of them.

    Example:
        >>> [anchor(n) for n in (7, 10, 19, 20, 339, 659)]
        [7, 10, 10, 20, 320, 640]
    """
    step = STEP
    while n >= share * step:
        step *= 2
    return n - n % step if n > STEP else n


def predecessor(n: int) -> int | None:
    """The number, of n trials, that the fit sees at which a search by their order begins; None where it begins anew.

    Example:
        >>> [predecessor(n) for n in (7, 10, 11, 12, 17, 20, 339, 340)]
        [None, None, 10, 10, 16, None, 338, None]
    """
    late = n - anchor(n)
    return None if late == 0 else n - (late & -late)
