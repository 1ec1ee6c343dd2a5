"""The new point that fitted surrogates propose: where the acquisition function is greatest, and no trial is pending."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from robustbo.loop.candidates.pending import free_points, is_taken, unavailable_points
from robustbo.loop.candidates.search import Search
from robustbo.loop.observations.table import Data
from robustbo.loop.optimize_acqf.ties import first_of_best
from robustbo.searchspace.parameters import Value
from robustbo.trials.history import Trial


def propose(search: Search, data: Data, seed: Callable[[str], int]) -> dict[str, Value]:
    """The point that maximizes the acquisition function; the best of some others, where that is pending.

    Args:
        search: The search.
        data: All trials.
        seed: The seed of each purpose.
    """
    if data.region.all_points:
        free = _free(data, data.own_trials if data.space.is_pool else (*data.pending, *data.barred))
        free = free if len(free) else _free(data, (*data.pending, *data.barred))
        if len(free):
            return data.region.all_points[int(free[search.best_of(data.region.rows[free])])]
    else:
        point = search.next_point()
        if not is_taken(data, point):
            return point
    points = free_points(data.region, unavailable_points(data), seed("others"))
    values = search.values_at([data.space.to_unit(point) for point in points])
    return points[first_of_best(values)]


def _free(data: Data, trials: Sequence[Trial]) -> Tensor:
    """The numbers of the listed points where none of these trials is."""
    is_free = torch.ones(len(data.region.rows), dtype=torch.bool)
    for trial in trials:
        if (number := data.region.number_of(trial.params)) is not None:
            is_free[number] = False
    return is_free.nonzero().squeeze(-1)
