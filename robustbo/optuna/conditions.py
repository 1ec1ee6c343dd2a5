"""Conditions under which parameters of a study exist, found from its trials: Optuna's spaces are defined by running.

A parameter that some trials have and others do not is taken to depend on a parameter of few values, if the values where
it is there are never those where it is not. That is a guess, which later trials refute or bear out; a wrong one costs
little, since Optuna asks for a parameter where it needs it, whatever was expected.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

FEW = 64  # values of a parameter on which others may depend

Distributions = dict[str, BaseDistribution]
Conditions = dict[str, dict[str, list[Any]]]  # parameter -> the other, and its values where it exists


def search_space(trials: Iterable[FrozenTrial]) -> Distributions:
    """The distributions of the completed trials that all agree on and of which it is known where they exist.

    Where none has been completed yet, those that have ended otherwise say what is known of the space. Those of
    single values are left out, as are those whose range changes.
    """
    completed = _informative_trials(trials)
    common = _common_distributions(completed)
    explained = conditions(common, completed)
    always = {name for name in common if all(name in trial.distributions for trial in completed)}
    return {name: common[name] for name in sorted(common) if name in always or name in explained}


def conditions(named: Mapping[str, BaseDistribution], trials: Iterable[FrozenTrial]) -> Conditions:
    """Conditions of each of these parameters that not all completed trials have, where that can be told."""
    completed = _informative_trials(trials)
    presence = {name: [name in trial.distributions for trial in completed] for name in sorted(named)}
    settled = [name for name, is_present in presence.items() if all(is_present)]
    waiting = [name for name in presence if name not in settled]
    result: Conditions = {}
    while waiting:
        explained = {name: condition for name in waiting if (condition := _on(name, settled, named, completed))}
        if not explained:
            break
        result |= explained
        settled += explained
        waiting = [name for name in waiting if name not in explained]
    return result


def _informative_trials(trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    """Trials that ran to their end, or where there are none those that ended otherwise.

    One that asked for nothing says nothing of the space.
    """
    ended = [trial for trial in trials if trial.state.is_finished() and trial.distributions]
    return [trial for trial in ended if trial.state == TrialState.COMPLETE] or ended


def _common_distributions(completed: Sequence[FrozenTrial]) -> Distributions:
    """Distributions that are the same in all trials that have them, but for single values."""
    distributions: Distributions = {}
    changing = set[str]()
    for trial in completed:
        for name, distribution in trial.distributions.items():
            if distributions.setdefault(name, distribution) != distribution:
                changing.add(name)
    return {
        name: distribution
        for name, distribution in distributions.items()
        if name not in changing and not distribution.single()
    }


def _on(
    name: str, settled: Sequence[str], named: Mapping[str, BaseDistribution], completed: Sequence[FrozenTrial]
) -> dict[str, list[Any]] | None:
    """The first of the settled parameters that tells where another exists, and its values there."""
    for other in settled:
        if not _is_of_few(named[other]):
            continue
        with_it = {trial.params.get(other) for trial in completed if name in trial.distributions}
        without = {trial.params.get(other) for trial in completed if name not in trial.distributions}
        exists = all(other in trial.distributions for trial in completed if name in trial.distributions)
        if exists and not with_it & without:
            return {other: sorted(with_it, key=named[other].to_internal_repr)}
    return None


def _is_of_few(distribution: BaseDistribution) -> bool:
    if isinstance(distribution, IntDistribution):
        return (distribution.high - distribution.low) // distribution.step < FEW
    return isinstance(distribution, CategoricalDistribution) and len(distribution.choices) <= FEW
