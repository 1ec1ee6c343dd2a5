"""What a history recommends and flags: of one outcome or of several."""

from robustbo.loop.belief.front import best, front
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.decide import incumbent
from robustbo.loop.surrogate.cache import FitCache
from robustbo.replay.spec.optimization import RunSpec
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials

Recommended = int | list[int] | None  # a trial, or those of the believed front
Flagged = list[int] | dict[str, list[int]]  # trials, of several outcomes by name


def trials_of(recommended: Recommended) -> list[int]:
    """The trials that are recommended."""
    return recommended if isinstance(recommended, list) else [] if recommended is None else [recommended]


def recommend(spec: RunSpec, settings: Settings, history: History, number: int, fits: FitCache) -> Recommended:
    """What is recommended after a trial; None within the initial phase, where it is not asked for, or nothing is told.

    Args:
        spec: Of the run.
        settings: The optimizer's.
        history: Of at least all trials up to that one.
        number: The trial's.
        fits: The last fits.
    """
    known = History(Trials(history.trials[: number + 1]))
    is_asked = (number + 1) % spec.recommend_every == 0
    if number + 1 < min(spec.num_initial, spec.trials) or not is_asked or not _is_told(settings, known):
        return None
    if len(settings.objectives) > 1:
        return sorted(point.trial.number for point in front(settings, known, fits))
    return (best if settings.outcomes else incumbent)(settings, known, fits).trial.number


def _is_told(settings: Settings, history: History) -> bool:
    """Whether there is a value that counts, of each outcome."""
    if not settings.outcomes:
        return bool(history.having("told"))
    return all(any(trial.of(wanted.name).state == "told" for trial in history) for wanted in settings.outcomes)


def flags(settings: Settings, history: History, fits: FitCache) -> Flagged:
    """The trials whose values the surrogate takes for outliers after a history."""
    found = [o for o in outliers(settings, history, fits) if o.flagged]
    if not settings.outcomes:
        return sorted(o.trial.number for o in found)
    names = [wanted.name for wanted in settings.outcomes]
    return {name: sorted(o.trial.number for o in found if o.outcome == name) for name in names}
