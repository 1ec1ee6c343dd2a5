"""The next candidates: none twice where a fit gives the same score again; an end where a finite space is through."""

import warnings

from robustbo.errors import ExhaustedWarning, SpaceExhausted
from robustbo.loop.distinct import AGAIN
from robustbo.optimizer import Optimizer
from robustbo.trials.history import Trial


def asked(optimizer: Optimizer, count: int) -> list[Trial]:
    """The next trials, at most so many; fewer, or none, once each point of the space has been asked for.

    A trial at a point that has been evaluated already, other than to try again what failed, is left pending where
    nothing is to be re-evaluated: so it is not asked for again.
    """
    found: list[Trial] = []
    while len(found) < count:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ExhaustedWarning)
                trial = optimizer.ask()
        except (ExhaustedWarning, SpaceExhausted):
            break
        if trial.reason != AGAIN or optimizer.settings.remeasure != "never":
            found.append(trial)
    return found
