"""What the surrogate of a study predicts."""

from collections.abc import Mapping
from typing import NamedTuple

from robustbo.determinism.surroundings import pinned
from robustbo.errors import FitError
from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted
from robustbo.loop.ladder import climb, finite
from robustbo.loop.observations import Data, observations
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


class Prediction(NamedTuple):
    """What the surrogate predicts of the objective at a point: mean and standard deviation, without noise."""

    mean: float
    sd: float


Numbers = tuple[list[float], list[float]]  # means and standard deviations at rows


@pinned  # so that it must not look into the store, whose lock somebody may hold who waits for this one
def predicted(
    settings: Settings, history: History, fits: FitCache, rows: list[list[float]]
) -> dict[str | None, Numbers]:
    """Means and standard deviations at unit-cube rows, of each of several outcomes by its name, or under None.

    Raises:
        ValueError: If no value counts of the outcome, or of one of them.
        FitError: If no surrogate can be fitted.
    """
    data = observations(settings, history)
    if not settings.outcomes:
        return {None: _of_one(settings, data, fits, rows)}
    return {
        wanted.name: _of_one(settings.of(wanted), data.of(wanted), fits.of(wanted.name), rows, f" of {wanted.name!r}")
        for wanted in settings.outcomes
    }


def _of_one(settings: Settings, data: Data, fits: FitCache, rows: list[list[float]], of: str = "") -> Numbers:
    if not data.told:
        raise ValueError(f"a prediction needs at least one told value{of}, got none; tell one first")

    def of_rung(_: Settings, fitted: Fitted) -> Numbers:
        means, sds = fitted.predict(fitted.encoded(rows)) if rows else ([], [])
        finite(*means, *sds)
        return means, sds

    found, why = climb(settings, data, of_rung, fits, is_judging=True)
    if found is None:
        raise FitError(f"no surrogate could predict{of} {why}")
    return found


def as_columns(found: Mapping[str | None, Numbers]) -> dict[str, list[float]]:
    """Means and standard deviations as the columns of a frame: mean and sd, or NAME.mean and NAME.sd."""
    return {
        key if name is None else f"{name}.{key}": numbers
        for name, pair in found.items()
        for key, numbers in zip(("mean", "sd"), pair, strict=True)
    }
