"""The best point so far, as a pure function of settings and history."""

import math
from dataclasses import dataclass
from functools import partial

from robustbo.determinism.surroundings import pinned
from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted, is_robust
from robustbo.loop.judge import judge
from robustbo.loop.ladder import climb, finite
from robustbo.loop.observations import Data, observations
from robustbo.searchspace.parameters import Value
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

NOTHING_TOLD = "the best needs at least one told value, got none; tell one first"


@dataclass(frozen=True)
class Incumbent:
    """The best point among those measured.

    Attributes:
        trial: The first trial that measured it.
        mean: Posterior mean of the objective there (or the raw value, where that was asked for).
        sd: Posterior standard deviation (or the value's own, NaN where unknown).
    """

    trial: Trial
    mean: float
    sd: float

    @property
    def params(self) -> dict[str, Value]:
        """The point."""
        return self.trial.params


@pinned
def incumbent(settings: Settings, history: History, fits: FitCache | None = None) -> Incumbent:
    """The measured point of best posterior mean.

    A point whose every value a robust surrogate disbelieves has not been measured: what the others predict there is a
    promise, and the value says otherwise. It is the incumbent only where no value is believed.

    Where no surrogate can be fitted it is the best value measured.

    Raises:
        ValueError: If no value has been told.
    """
    data = observations(settings, history)
    if not data.told:
        raise ValueError(NOTHING_TOLD)
    best, _ = climb(settings, data, partial(_best, data), FitCache() if fits is None else fits, is_judging=True)
    return _best_value(data) if best is None else best


def _best(data: Data, settings: Settings, fitted: Fitted) -> Incumbent:
    """The incumbent by a fitted surrogate."""
    points = fitted.at_points()
    disbelieved = judge(data, fitted).flagged if is_robust(settings) else ()
    numbers, rows = fitted.observations.numbers, fitted.observations.X
    believed = {row for number, row in zip(numbers, rows, strict=True) if number not in disbelieved} or points
    row = max((row for row in points if row in believed), key=lambda row: data.sign * points[row][0])
    finite(*points[row])
    return Incumbent(data.trials[numbers[rows.index(row)]], *points[row])


def raw_incumbent(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value, whatever the surrogate thinks of it.

    Raises:
        ValueError: If no value has been told.
    """
    return _best_value(observations(settings, history))


def _best_value(data: Data) -> Incumbent:
    if not data.told:
        raise ValueError(NOTHING_TOLD)
    trial = max(data.told, key=lambda trial: data.sign * trial.measured)
    return Incumbent(trial, trial.measured, math.nan if trial.sd is None else trial.sd)
