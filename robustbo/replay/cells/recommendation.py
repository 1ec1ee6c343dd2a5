"""Recommended and flagged trials of a history, of one outcome or of several."""

from robustbo.replay.spec.optimization import RunSpec
from robustbo.trials.history import History
from robustbo.trials.tree import Trials
from robustbo.view.view import View

Recommended = int | list[int] | None  # a trial, or those of the believed front
Flagged = list[int] | dict[str, list[int]]  # trials, of several outcomes by name


def trials_of(recommended: Recommended) -> list[int]:
    """The trials that are recommended."""
    return recommended if isinstance(recommended, list) else [] if recommended is None else [recommended]


def recommend(spec: RunSpec, view: View, number: int, begin: int = 0) -> Recommended:
    """Trials recommended after a trial; None in the initial phase, where it is not asked for, or nothing is told.

    Args:
        spec: Of the run.
        view: Of at least all trials up to that one.
        number: The trial's.
        begin: How many trials of old studies the history has before the first.
    """
    settings, history = view.settings, History(Trials(view.history.trials[: begin + number + 1]))
    is_asked = (number + 1) % spec.recommend_every == 0
    past_view = view.at(settings, history)
    if number + 1 < min(spec.num_initial, spec.trials) or not is_asked or not past_view.is_measured:
        return None
    if len(settings.objectives) > 1:
        return sorted(point.trial.number - begin for point in past_view.front())
    return past_view.best().trial.number - begin


def flags(view: View, begin: int = 0) -> Flagged:
    """The trials whose values the surrogate takes for outliers; ``begin`` as in `recommend`."""
    flagged = [o for o in view.outliers() if o.flagged]
    if not view.settings.outcomes:
        return sorted(o.trial.number - begin for o in flagged)
    names = [outcome.name for outcome in view.settings.outcomes]
    return {name: sorted(o.trial.number - begin for o in flagged if o.outcome == name) for name in names}


def sources_in_doubt(view: View) -> list[str]:
    """The labels of the sources in doubt, each once; "" for everything since a trial."""
    return sorted({report.level or "" for report in view.sources() if report.is_doubtful})
