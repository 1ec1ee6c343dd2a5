"""What the surrogate of a study predicts."""

from typing import NamedTuple

from robustbo.determinism.surroundings import pinned
from robustbo.errors import FitError
from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted
from robustbo.loop.ladder import climb, finite
from robustbo.loop.observations import observations
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


class Prediction(NamedTuple):
    """What the surrogate predicts of the objective at a point: mean and standard deviation, without noise."""

    mean: float
    sd: float


@pinned  # so that it must not look into the store, whose lock somebody may hold who waits for this one
def predicted(
    settings: Settings, history: History, fits: FitCache, rows: list[list[float]]
) -> tuple[list[float], list[float]]:
    """Means and standard deviations at unit-cube rows.

    Raises:
        FitError: If no surrogate can be fitted.
    """

    def of_rung(_: Settings, fitted: Fitted) -> tuple[list[float], list[float]]:
        means, sds = fitted.predict(fitted.encoded(rows)) if rows else ([], [])
        finite(*means, *sds)
        return means, sds

    found, why = climb(settings, observations(settings, history), of_rung, fits, is_judging=True)
    if found is None:
        raise FitError(f"no surrogate could predict {why}")
    return found
