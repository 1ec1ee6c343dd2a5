"""The parameters that are not asked for with the others: drawn at random, or by another sampler of Optuna's."""

import logging
from collections.abc import Callable
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from robustbo import seeds
from robustbo.optuna import notes
from robustbo.optuna.conditions import search_space
from robustbo.optuna.distributions import nearest, parameter

log = logging.getLogger("robustbo")


class IndependentParameters:
    """The draw of single parameters.

    Args:
        sampler: Who draws them; at random where it is None.
        warns: Whether to log that one is drawn, once a parameter.
    """

    def __init__(self, sampler: BaseSampler | None, warns: bool) -> None:
        self.sampler = sampler
        self._warns, self._warned = warns, set[str]()

    def sample(
        self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution, root: Callable[[Study], int]
    ) -> Any:
        """A value of a parameter: that of the trial which this one repeats, or a drawn one.

        Args:
            study: The study.
            trial: The trial that is to have the value.
            name: The parameter's name.
            distribution: Its distribution.
            root: Gives the root of a study's randomness.
        """
        first = notes.read(trial).get("repeats")
        for again in () if first is None else study.get_trials(deepcopy=False):
            if again.number == first and again.distributions.get(name) == distribution:
                return again.params[name]
        decided = notes.read(trial).get("params", {}).get(name)
        if (value := nearest(distribution, decided)) is not None:  # of another range than was expected
            return value
        self._warn(study, name, distribution)
        sampler = self.sampler
        if sampler is None:
            sampler = RandomSampler(seeds.derive(root(study), trial.number, f"{name} of Optuna") % 2**32)
        return sampler.sample_independent(study, trial, name, distribution)

    def _warn(self, study: Study, name: str, distribution: BaseDistribution) -> None:
        if not self._warns or name in self._warned or distribution.single():
            return
        if parameter(distribution) is None:
            why = f"floating-point numbers do not tell the values of {distribution} apart"
        else:
            trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            if sum(name in trial.distributions for trial in trials) < 2 or name in search_space(trials):
                return
            why = "its ranges are of different kinds"
        self._warned.add(name)
        text = "the parameter %r is drawn at random: %s (warn_independent_sampling=False to be silent)"
        log.warning(text, name, why)
