"""Conditions under which parameters of a study exist, found from its trials: Optuna's spaces are defined by running.

A parameter that some trials have and others do not is taken to depend on a parameter of few values, if the values where
it is there are never those where it is not. That is a guess, which later trials refute or bear out; a wrong one costs
little, since Optuna asks for a parameter where it needs it, whatever was expected. Where no parameter tells, whether it
is there is one more thing that a point has: values with it and without it are not held against each other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from robustbo.optuna.ranges import Distributions, ranges_of

FEW = 64  # values of a parameter on which others may depend

Conditions = dict[str, dict[str, list[Any]]]  # parameter -> the other, and its values where it exists


def search_space(trials: Iterable[FrozenTrial]) -> Distributions:
    """The distributions of the parameters of completed trials; of a range that changes see `robustbo.optuna.ranges`.

    Where none has been completed yet, those that have ended otherwise say what is known of the space. Those of
    single values are left out.
    """
    ranges = ranges_of(_informative_trials(trials))
    return {name: ranges[name] for name in sorted(ranges)}


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


def presence_indicators(named: Mapping[str, BaseDistribution], trials: Iterable[FrozenTrial]) -> dict[str, list[str]]:
    """The parameters that come and go without a plain reason, by the name of what says whether they are there.

    Those that come and go together have one.
    """
    trials = [*trials]
    completed, explained = _informative_trials(trials), conditions(named, trials)
    by_presence: dict[tuple[bool, ...], list[str]] = {}
    for name in sorted(named):
        presence = tuple(name in trial.distributions for trial in completed)
        if not all(presence) and name not in explained:
            by_presence.setdefault(presence, []).append(name)
    return {_new_name(f"{' and '.join(names)} there", named): names for names in by_presence.values()}


def _new_name(name: str, names: Collection[str]) -> str:
    """A name that no parameter has."""
    while name in names:
        name += "_"
    return name


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
