"""Warm starts: a search begins where that of other observations ended, most of which are the same.

The beginning is the same whether a run went on, was resumed, or is replayed: it follows from the observations. Up to
ten observations, and at every tenth count (from 320 on at every twentieth, from 640 on at every fortieth, and so on) a
search begins anew: from nothing, or, of more than `WHOLE`, at half of them. Of those in between, each begins at a count
before it that has one binary digit less, counted from there. So a study that is resumed makes a handful of fits, none
waits for dozens of others, and none of many observations begins from nothing while a study goes on.

A value may be left out later: it is excluded, quarantined or refuted. Then the searches without it that would begin
from nothing begin at the fit to all instead, if they are of more than `FEW` observations: of many that is dear.

What a surrogate makes of a beginning is its own ``continue_from``.
"""

from bisect import bisect_right
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.loop.observations import Observations

STEP = 10  # observations between two counts at which a search of few begins anew
SHARE = 32  # of many, the step is between 1/32 and 1/16 of them
WHOLE = 250  # observations up to which a search anew is one from nothing
FEW = 64  # observations up to which a search from nothing is cheap


class Beginning(NamedTuple):
    """Where a fit ended, without all that predictions need.

    Attributes:
        numbers: The trials it was fitted to, in order.
        center: Value that the model sees as 0.
        scale: Units of the value that it sees as 1.
        state: Where its search ended, as the surrogate has it; None where it does not tell.
    """

    numbers: tuple[int, ...]
    center: float
    scale: float
    state: Any

    def rows_of(self, numbers: tuple[int, ...]) -> Tensor:
        """For each of some trials, which one it is of those that it was fitted to, or -1."""
        place = {number: i for i, number in enumerate(self.numbers)}
        return torch.tensor([place.get(number, -1) for number in numbers])

    def serves(self, scale: float) -> bool:
        """Whether a search of observations in these units may begin here."""
        return self.scale / 2 <= scale <= self.scale * 2


class Line(NamedTuple):
    """What a search has to know: its observations, and where others of its kind begin.

    Attributes:
        told: What is to be fitted to.
        origin: Whose end takes the place of beginning from nothing; None where there is none.
    """

    told: Observations
    origin: "Line | None" = None

    @property
    def before(self) -> "Line | None":
        """The line whose end is the beginning of this one; None where it is to begin from nothing."""
        n = len(self.told.values)
        if (count := predecessor(n)) is not None:
            return Line(self.told.first(count), self.origin)
        if self.origin is None and n > WHOLE:
            return Line(self.told.first(max(anchor(n // 2), WHOLE)))
        return self.origin


def line(told: Observations, everything: Observations, origin: Line | None = None) -> Line:
    """The line of some observations among all that there are, whose own is that of an origin."""
    root = told.first(anchor(len(told.values)))
    among = bisect_right(everything.numbers, root.numbers[-1]) if root.numbers else 0
    if len(root.values) <= FEW or root == everything.first(len(root.values)):
        return Line(told, origin)
    return Line(told, Line(everything.first(anchor(among)), origin))


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
    """How many of n observations the fit sees where the search begins; None where it is to begin anew.

    Example:
        >>> [predecessor(n) for n in (7, 10, 11, 12, 17, 20, 339, 340)]
        [None, None, 10, 10, 16, None, 338, None]
    """
    late = n - anchor(n)
    return None if late == 0 else n - (late & -late)
