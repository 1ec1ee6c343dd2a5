"""The best point so far, of one outcome or of several: which rule says it is chosen here and nowhere else."""

from collections.abc import Collection

from robustbo.loop.best import constrained_best
from robustbo.loop.best.incumbent import Incumbent, incumbent, incumbents, raw_incumbent
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def best(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Incumbent:
    """The best point measured; see `incumbent.incumbent`, and of several outcomes `constrained_best.best`.

    Raises:
        ValueError: If there are several objectives, or an outcome has no value that counts.
        SpaceError: If no point keeps the constraints with what is fixed.
        FitError: If some values are fixed and no surrogate can be fitted.
    """
    return (constrained_best.best if settings.outcomes else incumbent)(settings, history, fits, fixed)


def bests(
    settings: Settings, history: History, fits: FitCache | None = None, *, without: Collection[int] = ()
) -> list[Incumbent]:
    """The best points so far, by what is believed now: each beats those before it; the last is the `best`.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened.
        fits: The last fits.
        without: Trials that are learned from, and are no candidates; only of one outcome there are such.

    Raises:
        ValueError: If there are several objectives, or an outcome has no value that counts.
    """
    if settings.outcomes:
        return constrained_best.bests(settings, history, fits)
    return incumbents(settings, history, fits, without=without)


def raw_best(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value, whatever the surrogate thinks of it.

    Raises:
        ValueError: If there are several objectives, or no value has been told.
    """
    return (constrained_best.raw_best if settings.outcomes else raw_incumbent)(settings, history)
