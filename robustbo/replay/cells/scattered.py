"""A pool whose rows lie scattered, as another library is given it: the box around them, and the row nearest to a point.

Where a column has more than `MAX_LEVELS` numbers, the rows are no grid that a library could search by levels:
next to none of the combinations of their values is listed.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from robustbo.searchspace.parameters import MAX_LEVELS, Choice, Value
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space


def is_scattered(space: Space) -> bool:
    """Return whether a space is a pool with a column of more than `MAX_LEVELS` numbers."""
    if not isinstance(space, Pool):
        return False
    columns = zip(space.parameters, zip(*space.rows, strict=True), strict=True)
    return any(not isinstance(p, Choice) and len(set(column)) > MAX_LEVELS for (_, p), column in columns)


class Rows:
    """The rows of a scattered pool, and which of them a library has taken.

    A library measures each once, as our own methods do except for values in doubt; again when all are taken.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._is_word = np.array([isinstance(p, Choice) for _, p in pool.parameters])
        self._allowed = np.array([not pool.broken(pool.point(i)) for i in range(pool.size)])
        self._is_taken = np.zeros(pool.size, bool)
        self._at = {tuple(row): i for i, row in enumerate(pool.rows)}

    def take(self, point: Mapping[str, Any]) -> None:
        """Take the row that a point is."""
        self._is_taken[self._at[tuple(point[name] for name in self._pool.names)]] = True

    def nearest(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """The row nearest to a point of the box: by unit coordinates, another word being as far as the whole range."""
        unit = np.array([p.to_unit(params[name]) for name, p in self._pool.parameters])
        apart = self._pool.unit - unit
        apart[:, self._is_word] = apart[:, self._is_word] != 0
        free = self._allowed & ~self._is_taken
        distance = np.where(free if free.any() else self._allowed, np.square(apart).sum(axis=1), np.inf)
        return self._pool.point(int(distance.argmin()))
