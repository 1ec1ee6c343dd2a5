"""The values that look wrong, and why, by the first surrogate that can judge them."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from robustbo.determinism.surroundings import pinned
from robustbo.errors import FitError
from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted
from robustbo.loop.judge import Belief, Outlier, judge, suspicious
from robustbo.loop.ladder import climb
from robustbo.loop.observations import Data, observations
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

__all__ = ["Outlier", "outliers"]


@pinned
def outliers(
    settings: Settings, history: History, fits: FitCache | None = None, *, is_weighed: bool = True
) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence; weights take time.

    Of several outcomes each value is judged by its own surrogate; all of them are in one list.
    """
    data, fits = observations(settings, history), FitCache() if fits is None else fits
    if not settings.outcomes:
        return list(_of_one(settings, data, fits, is_weighed))
    found: list[Outlier] = []
    for wanted in settings.outcomes:
        of_it = _of_one(settings.of(wanted), data.of(wanted), fits.of(wanted.name), is_weighed)
        found += [replace(o, trial=data.trials[o.trial.number], outcome=wanted.name) for o in of_it]
    return sorted(found, key=suspicious)


def _of_one(settings: Settings, data: Data, fits: FitCache, is_weighed: bool) -> Iterable[Outlier]:
    if not data.told:
        return []
    belief, why = climb(settings, data, partial(_judged, data, is_weighed), fits, is_judging=True)
    if belief is None:
        raise FitError(f"no surrogate could judge these values {why}")
    return belief


def _judged(data: Data, is_weighed: bool, _: Settings, fitted: Fitted) -> Belief:
    return judge(data, fitted, is_weighed=is_weighed)
