"""Trials of other sources than the target, set aside: what is decided and shown is of the target alone."""

from dataclasses import replace

from robustbo.trials.declared import Declared, source_in
from robustbo.trials.history import History
from robustbo.trials.tree import ASIDE, Trials
from robustbo.trials.trial import Trial


def set_aside(declared: Declared, trials: Trials) -> tuple[Trials, tuple[Trial, ...]]:
    """The trials in which those of other sources than the target are aside, and these as they are."""
    beside = tuple(trial for trial in trials if source_in(declared, trial.sources) is not None)
    numbers = {trial.number for trial in beside}
    return Trials(replace(t, state=ASIDE) if t.number in numbers else t for t in trials), beside


def target_history(declared: Declared, history: History) -> History:
    """The history in which trials of other sources than the target are aside; the same where none are declared."""
    return replace(history, trials=set_aside(declared, history.trials)[0]) if declared else history
