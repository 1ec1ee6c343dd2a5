"""The new point that a fitted surrogate proposes: where the acquisition function is greatest, and nobody measures."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from robustbo.loop.candidates.pending import free_points, is_taken
from robustbo.loop.candidates.search import Search
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.optimize_acqf.ties import first_of_best
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.searchspace.parameters import Value
from robustbo.trials.history import Trial


def search(
    acquisition: str,
    data: Data,
    fitted: FittedSurrogate,
    viability: FeasibilityModel | None,
    seed: Callable[[str], int],
) -> Search:
    """The search for a new point.

    Args:
        acquisition: The function's name.
        data: All trials; the values of those that are pending or quarantined are unknown to the model.
        fitted: The surrogate.
        viability: Where trials give a value; None where none has failed.
        seed: Of each purpose.
    """
    return Search(acquisition, fitted, viability, unknown_rows(data, fitted), data.region, seed("acquisition"))


def propose(searching: Search, data: Data, seed: Callable[[str], int]) -> dict[str, Value]:
    """What maximizes the acquisition function; the best of some others, where that is being measured.

    Args:
        searching: The search.
        data: All trials.
        seed: Of each purpose.
    """
    if data.region.all_points:
        free = _free(data, data.trials if data.space.is_pool else (*data.pending, *data.barred))
        free = free if len(free) else _free(data, (*data.pending, *data.barred))
        if len(free):
            return data.region.all_points[int(free[searching.best_of(data.region.rows[free])])]
    else:
        point = searching.next_point()
        if not is_taken(data, point):
            return point
    others = free_points(data.region, {trial.point for trial in (*data.pending, *data.barred)}, seed("others"))
    found = searching.values_at([data.space.to_unit(other) for other in others])
    return others[first_of_best(found)]


def _free(data: Data, taken: Sequence[Trial]) -> Tensor:
    """The numbers of the listed points where none of these trials is."""
    is_free = torch.ones(len(data.region.rows), dtype=torch.bool)
    for trial in taken:
        if (number := data.region.number_of(trial.params)) is not None:
            is_free[number] = False
    return is_free.nonzero().squeeze(-1)


def unknown_rows(data: Data, fitted: FittedSurrogate) -> list[Row]:
    """Where something is measured whose value the surrogate does not know."""
    return data.rows_of([*(trial.number for trial in data.pending), *fitted.quarantined])
