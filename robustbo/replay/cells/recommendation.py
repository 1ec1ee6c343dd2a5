"""What a history recommends and flags: of one outcome or of several."""

from robustbo.replay.spec.optimization import RunSpec
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials
from robustbo.view.view import View

Recommended = int | list[int] | None  # a trial, or those of the believed front
Flagged = list[int] | dict[str, list[int]]  # trials, of several outcomes by name


def trials_of(recommended: Recommended) -> list[int]:
    """The trials that are recommended."""
    return recommended if isinstance(recommended, list) else [] if recommended is None else [recommended]


def recommend(spec: RunSpec, view: View, number: int) -> Recommended:
    """What is recommended after a trial; None within the initial phase, where it is not asked for, or nothing is told.

    Args:
        spec: Of the run.
        view: Of at least all trials up to that one.
        number: The trial's.
    """
    settings, known = view.settings, History(Trials(view.history.trials[: number + 1]))
    is_asked = (number + 1) % spec.recommend_every == 0
    if number + 1 < min(spec.num_initial, spec.trials) or not is_asked or not _is_told(settings, known):
        return None
    then = view.at(settings, known)
    if len(settings.objectives) > 1:
        return sorted(point.trial.number for point in then.front())
    return then.best().trial.number


def _is_told(settings: Settings, history: History) -> bool:
    """Whether there is a value that counts, of each outcome."""
    if not settings.outcomes:
        return bool(history.having("told"))
    return all(any(trial.of(wanted.name).state == "told" for trial in history) for wanted in settings.outcomes)


def flags(view: View) -> Flagged:
    """The trials whose values the surrogate takes for outliers."""
    found = [o for o in view.outliers() if o.flagged]
    if not view.settings.outcomes:
        return sorted(o.trial.number for o in found)
    names = [wanted.name for wanted in view.settings.outcomes]
    return {name: sorted(o.trial.number for o in found if o.outcome == name) for name in names}
