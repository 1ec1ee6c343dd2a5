"""Warm starts: a search begins where that of all but the last observation (by trial number) ended.

The beginning is thus the same whether a run went on, was resumed, or is replayed: it follows from the observations,
down to the last count that `COLD_EVERY` divides. What a surrogate makes of it is its own ``continue_from``.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from robustbo.errors import FitError

COLD_EVERY = 10  # observations: a search begins from nothing then, and where the last one ended in between


class Scaled(Protocol):
    """A fit to values in some units."""

    @property
    def scale(self) -> float:
        """Units of the value that the model sees as 1."""


F = TypeVar("F", bound=Scaled)


def warm_start(n: int, scale: float, fit_to_first: Callable[[int], F]) -> F | None:
    """The fit where the search for n observations begins; None where it is to begin from nothing.

    That is up to `COLD_EVERY` and at its multiples, where the last value changes the scale, and where the rest could
    not be fitted.

    Args:
        n: How many observations there are.
        scale: Their units.
        fit_to_first: The fit to the first so many.
    """
    if n <= COLD_EVERY or n % COLD_EVERY == 0:
        return None
    try:
        found = fit_to_first(n - 1)
    except (FitError, ValueError):
        return None
    return found if found.scale / 2 <= scale <= found.scale * 2 else None
