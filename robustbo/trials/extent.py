"""The search space as it is now: it may have been changed, and a pool's rows added to."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from robustbo.searchspace.pool import Pool, Row
from robustbo.searchspace.space import Space
from robustbo.trials.changes import changed_space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def space_of(settings: Settings, history: History) -> Space:
    """The space of an optimization after all changes, with all rows that have been added, in these settings or not."""
    if history.changes:
        return changed_space(settings.space, history.changes)
    if not history.rows or not isinstance(settings.space, Pool):
        return settings.space
    return _extend(_Added(settings.space, history.rows))


def spaces_now(settings: Settings, history: History) -> list[Space]:
    """The space as it is now, in the forms that people may give it in."""
    changed = [replace(settings, space=change.space).space for change in history.changes[-1:]]
    return [space_of(settings, history), *changed]


def settings_at(settings: Settings, history: History) -> Settings:
    """The settings with the space as it is now."""
    is_new = bool(history.changes) or settings.space.is_pool
    return replace(settings, space=space_of(settings, history)) if is_new else settings


def check_extent(settings: Settings, history: History, first: int = 0) -> None:
    """Raise a `SpaceError` if rows that were added are none of the pool, or trials are at none of its rows.

    What was measured may be beside them; in a space that was changed each trial must have a place.

    Args:
        settings: With the pool.
        history: All trials.
        first: The number of the first trial that has not been looked at before.
    """
    if not (settings.space.is_pool or history.changes):
        return
    space = space_of(settings, history)
    for trial in history.trials[first:]:
        is_row = settings.space.is_pool and trial.is_open
        (space.validate if is_row else space.measured_point)(trial.params)


class _Added(NamedTuple):
    """A pool and rows, the same only where they are the very same: thousands of rows take long to compare."""

    pool: Pool
    rows: tuple[Row, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Added) and self.pool is other.pool and self.rows is other.rows

    def __hash__(self) -> int:
        return hash((id(self.pool), id(self.rows)))


@lru_cache(maxsize=4)
def _extend(added: _Added) -> Pool:
    pool = added.pool
    return pool.extended([row for row in added.rows if not pool.has(row)])
