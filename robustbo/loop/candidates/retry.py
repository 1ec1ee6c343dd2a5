"""Retries of failed trials: a flake where much is promised, once; and a failure that was one by the user's word.

A failure lowers what its own point promises by the chance that it lies there. If what is left is nearly as much as the
best new point promises, asking again costs little and tells the one from the other, for all that lies around.
"""

import math
from dataclasses import replace

from robustbo.loop.candidates.search import Search
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.expectation import expectation_of, expectations_of
from robustbo.loop.observations.table import Data, Row
from robustbo.trials.history import RETRY, Trial
from robustbo.trials.identity import point_of
from robustbo.trials.tree import RETRIED

NEARLY = math.log(2)  # nats by which a new point may promise more


def retry_by_user(data: Data) -> Trial | None:
    """The first failed trial that the user wants tried again, that may be, and that nobody has tried since."""
    for trial in data.trials.having(RETRIED):
        params = trial.params if data.region.contains(trial.params) else trial.target_params
        last = max(data.trials.by_point.at(point_of(params)))
        if data.trials[last] is trial and data.region.contains(params):
            return trial if params == trial.params else replace(trial, params=params)
    return None


def suggest_retry(data: Data) -> Suggestion | None:
    """The suggestion to try a failed trial again, where the user wants that; None where there is no such trial."""
    trial = retry_by_user(data)
    if trial is None:
        return None
    return Suggestion(trial.params, trial.origin, expectations_of(trial) or expectation_of(trial), trial.number, RETRY)


def flake_to_retry(search: Search, data: Data, feasibility: FeasibilityModel, new: Row) -> Trial | None:
    """The failed trial to try again in place of a new point, if any.

    Args:
        search: The search for the new point.
        data: All trials.
        feasibility: The model of where trials give a value.
        new: The unit-cube row of the new point.
    """
    odds, tried_again = feasibility.log_odds, {t.repeats for t in data.trials}
    lone = [t for t in data.failed if t.retry is None and len(data.groups[t.point].trials) == 1]
    lone = [t for t in lone if t.number not in tried_again]  # nor elsewhere than it was asked for
    flakes = [t for t in lone if odds[t.number] > 0 and data.region.contains(t.params)]
    if not flakes:
        return None
    promised, *values = search.values_at([new, *data.rows_of([t.number for t in flakes])]).tolist()
    best = max(range(len(values)), key=values.__getitem__)
    return flakes[best] if values[best] >= promised - NEARLY else None
