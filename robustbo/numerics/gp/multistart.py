"""The highest of several maxima: rough climbs from all starts, and a fine one from where the best of them ended."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from robustbo.numerics.gp.ascent import Ascent

S = TypeVar("S")


def highest(starts: Iterable[S], rough: Callable[[S], Ascent], fine: Callable[[Ascent], Ascent]) -> Ascent:
    """Climb from several places, and from the highest end on.

    Args:
        starts: Where to begin; of several ends of one height, that of the first counts.
        rough: A climb from a start.
        fine: A climb from the end of another.

    Returns:
        The end of the fine climb, with the evaluations of all.
    """
    climbs = [rough(start) for start in starts]
    end = fine(max(climbs, key=lambda climb: climb.F))
    return end._replace(num_evaluations=sum(climb.num_evaluations for climb in (*climbs, end)))
