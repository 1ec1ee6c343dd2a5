"""The next candidates: none twice except for a reason, and an end where a finite space is through."""

import warnings

from robustbo.errors import ExhaustedWarning, SpaceExhausted
from robustbo.loop.candidates.pending import AGAIN
from robustbo.optimizer import Optimizer
from robustbo.trials.history import Trial


def next_trials(optimizer: Optimizer, count: int) -> list[Trial]:
    """The next trials, at most so many; fewer, or none, once each point of the space has been asked for.

    A score that is in doubt may be replicated, and what failed tried again. Where the model wants another value of
    a point for its noise alone, the trial is left pending, so that it is not asked for again: the folds are the same.
    """
    trials: list[Trial] = []
    while len(trials) < count:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ExhaustedWarning)
                trial = optimizer.ask()
        except (ExhaustedWarning, SpaceExhausted):
            break
        if trial.reason != AGAIN:
            trials.append(trial)
    return trials
