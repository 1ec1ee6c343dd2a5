"""Warm starts: a search begins where that of some observations less (by trial number) ended.

The beginning is thus the same whether a run went on, was resumed, or is replayed: it follows from the observations.
At every tenth count (or twentieth, fortieth, ... of more than 320, 640, ...) a search begins from nothing; of those in
between, each begins at a count before it that has one binary digit less, counted from there. So a study that is resumed
makes a handful of fits, and none of many observations waits for dozens of others.

What a surrogate makes of a beginning is its own ``continue_from``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from robustbo.errors import FitError

STEP = 10  # observations between two counts at which a search of few begins from nothing
SHARE = 32  # of many, the step is between a sixteenth and this share of them


class Beginning(NamedTuple):
    """Where a fit ended, without all that predictions need.

    Attributes:
        center: Value that the model sees as 0.
        scale: Units of the value that it sees as 1.
        state: Where its search ended, as the surrogate has it; None where it does not tell.
    """

    center: float
    scale: float
    state: Any


def predecessor(n: int) -> int | None:
    """How many of n observations the fit sees where the search begins; None where it is to begin from nothing.

    Example:
        >>> [predecessor(n) for n in (7, 10, 11, 12, 17, 20, 339, 340)]
        [None, None, 10, 10, 16, None, 338, None]
    """
    step = STEP
    while n >= SHARE * step:
        step *= 2
    late = n % step
    return None if n <= STEP or late == 0 else n - (late & -late)


def warm_start(n: int, scale: float, end_of_first: Callable[[int], Beginning]) -> Beginning | None:
    """Where the search for n observations begins; None where it is to begin from nothing.

    It is also where the last values change the scale, and where the rest could not be fitted.

    Args:
        n: How many observations there are.
        scale: Their units.
        end_of_first: Where the fit to the first so many ended.
    """
    count = predecessor(n)
    if count is None:
        return None
    try:
        found = end_of_first(count)
    except (FitError, ValueError):
        return None
    return found if found.scale / 2 <= scale <= found.scale * 2 else None
