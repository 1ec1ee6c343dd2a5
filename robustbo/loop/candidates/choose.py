"""The choice between a new point, a replicate, and a failed trial again."""

from collections.abc import Callable

from robustbo.loop.candidates.pending import AGAIN
from robustbo.loop.candidates.propose import propose
from robustbo.loop.candidates.replicate import may_come
from robustbo.loop.candidates.retry import flake_to_retry
from robustbo.loop.candidates.search import Search
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fit import is_robust
from robustbo.trials.history import RETRY
from robustbo.trials.identity import point_of
from robustbo.trials.settings import Settings


def choose(
    data: Data,
    reason: str | None,
    search: Search,
    seed: Callable[[str], int],
    replicate: Callable[[Row], Suggestion | None],
) -> Suggestion:
    """A new point; or in its place a replicate, or a failed trial again.

    Args:
        data: All trials.
        reason: Why a point is asked for, if that is known before.
        search: The search for a new point.
        seed: The seed of each purpose.
        replicate: The replicate in place of a new point at a unit-cube row, if any.
    """
    point = propose(search, data, seed)
    row = tuple(data.space.to_unit(point))
    if (suggestion := replicate(row)) is not None:
        return suggestion
    if search.feasibility is not None and may_come(data):
        failed = flake_to_retry(search, data, search.feasibility, row)
        if failed is not None:
            return Suggestion(failed.params, "model", None, failed.number, RETRY)
    is_again = reason is None and point_of(point) in data.trials.by_point
    return Suggestion(point, "model", reason=AGAIN if is_again else reason)


def may_replicate(settings: Settings, data: Data) -> bool:
    """Return whether a replicate may come now: by a surrogate that is robust, or because any value may get one."""
    is_on = settings.replicate == "any" or (settings.replicate == "flagged" and is_robust(settings))
    return is_on and may_come(data)
