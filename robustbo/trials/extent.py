"""The search space as it is now: a pool's rows may have been added to."""

from functools import lru_cache

from robustbo.searchspace.pool import Pool, Row
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def space_of(settings: Settings, history: History) -> Space:
    """The space of an optimization, with all rows that have been added, be they in these settings' pool or not."""
    if not history.rows or not isinstance(settings.space, Pool):
        return settings.space
    return _extended(settings.space, history.rows)


def check_extent(settings: Settings, history: History) -> None:
    """Raise a `SpaceError` if rows that were added are none of the pool, or trials are at none of its rows."""
    if settings.space.is_pool:
        space = space_of(settings, history)
        for trial in history:
            space.validate(trial.params)


@lru_cache(maxsize=4)
def _extended(pool: Pool, rows: tuple[Row, ...]) -> Pool:
    return pool.extended([row for row in rows if not pool.has(row)])
