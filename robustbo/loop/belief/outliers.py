"""The values that look wrong, and why, by the first surrogate that can judge them."""

from dataclasses import replace
from functools import partial

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.judge import Outlier, judge, suspicious
from robustbo.loop.belief.outcome_models import Several, climb_each
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import climb
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

__all__ = ["Outlier", "outliers"]


@pin_surroundings
def outliers(settings: Settings, history: History, fits: FitCache | None = None) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence.

    Of several outcomes each value is judged by its own surrogate; all of them are in one list.
    """
    data, fits = observations(settings, history), FitCache() if fits is None else fits
    if not data.told:
        return []
    if settings.outcomes:
        found, why = climb_each(settings, data, partial(_of_each, data), fits, is_judging=True)
    else:
        found, why = climb(settings, data, partial(_judged, data), fits, is_judging=True)
    if found is None:
        raise FitError(f"no surrogate could judge these values {why}")
    quantities = settings.quantities
    return [each.of(quantities[each.outcome]) for each in found]


def _of_each(data: Data, several: Several) -> list[Outlier]:
    found = []
    for each in several:
        for o in judge(each.data, each.fitted):
            trial, failed = data.trials[o.trial.number], each.failed.get(o.trial.number)
            found.append(replace(o, trial=trial, outcome=each.wanted.name, failed=failed))
    return sorted(found, key=suspicious)


def _judged(data: Data, _: Settings, fitted: FittedSurrogate) -> list[Outlier]:
    return list(judge(data, fitted))
