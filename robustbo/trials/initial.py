"""The number of space-filling points that come first, where nobody says."""

import math

from robustbo.searchspace.constraints.equations import solve
from robustbo.searchspace.space import Space

FEWEST, MOST = 5, 20  # points; the most by loops in 20 dimensions, see docs/evidence/no-signal.md
ROWS = 4  # of a pool for each point


def default_num_initial(space: Space) -> int:
    """Number of points of the initial design by default: 2 (d + 1) of d effective dimensions, within 5 and 20.

    Of a pool it is at most a quarter of the rows, and 2 at least.

    Example:
        >>> from robustbo import Float
        >>> [default_num_initial(Space({f"x{i}": Float(0, 1) for i in range(d)})) for d in (1, 6, 50)]
        [5, 14, 20]
    """
    number = min(max(FEWEST, round(2 * (effective_dimensions(space) + 1))), MOST)
    return min(number, max(2, (space.size or 0) // ROWS)) if space.is_pool else number


def effective_dimensions(space: Space) -> float:
    """The number of parameters that can be chosen: without those that follow from others by equations.

    A parameter that exists only where others have certain values counts by the share of points where it exists.

    Example:
        >>> from robustbo import Choice, Float
        >>> effective_dimensions(Space({"a": Choice(1, 2), "x": Float(0, 1, when={"a": 1})}))
        1.5
        >>> effective_dimensions(Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y == 1"]))
        1.0
    """
    named = dict(space.parameters)
    shares = dict.fromkeys(named, 1.0)
    for name, needed in space.conditions.items():  # each after those that it depends on
        parts = (shares[other] * len(keys) / (named[other].count or 1) for other, keys in needed.items())
        shares[name] = math.prod(parts)
    num_following = len(solve(space.equations, named, {})) if space.equations else 0
    return sum(share for name, share in shares.items() if named[name].count != 1) - num_following
