"""The values that look wrong, and why, by the first surrogate that can judge them."""

from functools import partial

from robustbo.determinism.surroundings import pinned
from robustbo.errors import FitError
from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted
from robustbo.loop.judge import Belief, Outlier, judge
from robustbo.loop.ladder import climb
from robustbo.loop.observations import Data, observations
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

__all__ = ["Outlier", "outliers"]


@pinned
def outliers(
    settings: Settings, history: History, fits: FitCache | None = None, *, is_weighed: bool = True
) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence; weights take time."""
    data = observations(settings, history)
    if not data.told:
        return []
    use = partial(_judged, data, is_weighed)
    belief, why = climb(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    if belief is None:
        raise FitError(f"no surrogate could judge these values {why}")
    return list(belief)


def _judged(data: Data, is_weighed: bool, _: Settings, fitted: Fitted) -> Belief:
    return judge(data, fitted, is_weighed=is_weighed)
