"""The sources of an experiment: those that its strategy declares, and the old experiments that are attached to it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.ax.experiment import Run
from robustbo.ax.old_experiments import OldArm, arms_of, iterate_auxiliary, old_runs
from robustbo.ax.options import StrategyOptions
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Declared, Source, sources_by_name
from robustbo.trials.settings import DEFAULT_SURROGATE

THIS_EXPERIMENT = "this experiment"  # the target's name where nobody gives it one
ATTACHED = "attached_experiments"  # the key, in the metadata of generator runs, of those that were learned from


class ExperimentSources(NamedTuple):
    """The sources of an experiment.

    Attributes:
        declared: All of them by name, the target among them; none where there is no other.
        old: The arms of old experiments, by the name of the source that each is.
        attached: The names of the old experiments that are attached to the experiment, and used.
    """

    declared: Declared = ()
    old: Mapping[str, tuple[OldArm, ...]] = {}
    attached: tuple[str, ...] = ()

    def old_runs(self, space: Space, metrics: Sequence[str]) -> list[Run]:
        """The arms of all old experiments as runs of a space; see `robustbo.ax.old_experiments.old_runs`."""
        by_name = dict(self.declared)
        return [run for name, arms in self.old.items() for run in old_runs(name, by_name[name], arms, space, metrics)]


def with_target(sources: Mapping[str, Source]) -> Declared:
    """Sources by name, with a target: the experiment itself, unless one is declared as such.

    Raises:
        TypeError, ValueError: If they are not such, or a name is taken.
    """
    own = {} if not sources or any(source.target for source in sources.values()) else {THIS_EXPERIMENT: TARGET}
    return sources_by_name(own | dict(sources))


TARGET = Source(target=True)


def sources_of(experiment: Any, options: StrategyOptions) -> ExperimentSources:
    """The sources of an experiment.

    Args:
        experiment: It.
        options: Those of its strategy; one whose surrogate takes no sources ignores what is attached.

    Raises:
        ValueError: If old experiments that were learned from are not attached any more, or one has no name.
    """
    if options.surrogate != DEFAULT_SURROGATE:
        return ExperimentSources()
    attached = dict(iterate_auxiliary(experiment))
    _check_presence(experiment, {*attached, *options.old})
    active = {name: auxiliary for name, auxiliary in attached.items() if auxiliary.is_active}
    if twice := [name for name in active if name in options.old]:
        raise ValueError(f"old experiment {twice[0]!r} is attached to the experiment and given to the strategy, too")
    sources = dict.fromkeys(active, Source(ask=False)) | dict(options.sources)
    old = dict(options.old) | {name: arms_of(auxiliary) for name, auxiliary in active.items()}
    return ExperimentSources(with_target(sources), old, tuple(active))


def _check_presence(experiment: Any, present: set[str]) -> None:
    """Raise a `ValueError` where the last candidate was learned from an old experiment that is not there any more."""
    names: Sequence[str] = ()
    for _, trial in sorted(experiment.trials.items()):
        for run in trial.generator_runs:
            names = (run.gen_metadata or {}).get(ATTACHED, names)
    if lost := [name for name in names if name not in present]:
        why = f"old experiment {lost[0]!r} was learned from, and is not attached any more: Ax's JSON does not keep it"
        advice = "attach it again (with is_active=False, if robustbo must ignore it from now on)"
        raise ValueError(f"{why}; {advice}, or give it to generation_strategy(sources=...)")
