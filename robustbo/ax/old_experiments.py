"""Old experiments whose arms are learned from; nothing of Ax is imported here, only looked at.

An experiment of last year's, on other hardware or with another material, is learned from as far as its values say
something of this one's; see `robustbo.Source`. It is attached to the experiment as a transferable experiment of Ax's
(`ax.core.auxiliary.AuxiliaryExperiment`), or given to the strategy, which then keeps its arms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from robustbo.ax.experiment import Noisy, Run, iterate_arms, point_in, values_by_arm
from robustbo.errors import NumericsWarning, SpaceError, warn
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Source
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.validation import short_list

PURPOSE = "transferable_experiment"  # Ax's, of an auxiliary experiment that is learned from


@dataclass(frozen=True)
class OldExperiment:
    """An old experiment as a source, in its state when the strategy is made.

    Attributes:
        experiment: Its client, or the experiment, or an auxiliary experiment of Ax's.
        was: Values that parameters of the new experiment had in it, where it did not have them.
        had: Values of a choice that it alone had, by the choice's name.
        trusted: Whether it is known to measure the same, except for noise.
    """

    experiment: Any
    was: Mapping[str, Any] = field(default_factory=dict)
    had: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = False

    @property
    def source(self) -> Source:
        """The source that it is."""
        return Source(ask=False, was=dict(self.was), had=dict(self.had), trusted=self.trusted)


class OldArm(NamedTuple):
    """An arm of an old experiment that has ended.

    Attributes:
        trial_index: Ax's number of the trial there.
        arm_name: Ax's name of the arm there.
        parameters: Its parameters, by the names of the new experiment.
        values: By metric, where there is a value: it, and the standard deviation of its noise where known.
    """

    trial_index: int
    arm_name: str
    parameters: dict[str, Any]
    values: dict[str, Noisy]

    def to_dict(self) -> dict[str, Any]:
        """The arm as JSON has it."""
        return self._asdict() | {"values": {metric: [*pair] for metric, pair in self.values.items()}}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "OldArm":
        """The arm from its `to_dict` form."""
        return cls(**{**entries, "values": {metric: tuple(pair) for metric, pair in entries["values"].items()}})


def is_old_experiment(candidate: Any) -> bool:
    """Return whether it is an experiment, its client, or an auxiliary experiment."""
    return hasattr(_experiment_of(candidate), "lookup_data") and hasattr(_experiment_of(candidate), "search_space")


def _experiment_of(candidate: Any) -> Any:
    """The experiment of a client, or of an auxiliary experiment; itself otherwise."""
    return getattr(candidate, "_maybe_experiment", None) or getattr(candidate, "experiment", candidate)


def arms_of(old: Any) -> tuple[OldArm, ...]:
    """The arms of an old experiment that have ended, by trial.

    Args:
        old: It, its client, or an auxiliary experiment, with its data and its names of parameters and metrics.

    Raises:
        ValueError: If several of its metrics are to stand for one.
    """
    experiment = _experiment_of(old)
    data = experiment.lookup_data() if getattr(old, "data", None) is None else old.data
    values = {name: values_by_arm(data, metric) for name, metric in _metrics(old, data).items()}
    names = {theirs: ours for ours, theirs in (getattr(old, "transfer_param_config", None) or {}).items()}
    return tuple(
        OldArm(
            trial.index,
            arm.name,
            {names.get(name, name): value for name, value in arm.parameters.items()},
            own,
        )
        for trial, arm, own, is_over in iterate_arms(experiment, values)
        if own or is_over
    )


def _metrics(old: Any, data: Any) -> dict[str, str]:
    """The metrics of the old data by their names in the new experiment."""
    metrics = {str(name): str(name) for name in data.metric_names}
    for name, of_name in (getattr(old, "transfer_metric_config", None) or {}).items():
        if len(of_name) > 1:
            raise ValueError(f"one metric of an old experiment must stand for {name!r}, got {sorted(of_name)}")
        metrics.pop(name, None)
        metrics.update((name, str(metric)) for metric in of_name)  # one, or none
    return metrics


def old_runs(name: str, source: Source, arms: Sequence[OldArm], space: Space, metrics: Sequence[str]) -> list[Run]:
    """The arms of an old experiment in a new space; those that have no place in it are left out, with a warning.

    What is fixed in the new space is as it is there: that it was something else is part of how the source differs.

    Args:
        name: Of the source.
        source: Says what parameters were that it does not have.
        arms: The arms.
        space: The new space.
        metrics: Those whose values count.
    """
    runs, errors = list[Run](), list[str]()
    fixed = {of: parameter.nth(0) for of, parameter in space.parameters if parameter.count == 1}
    for arm in arms:
        try:
            point = point_in(space, {**source.values, **arm.parameters, **fixed})
        except SpaceError as error:
            errors.append(str(error))
            continue
        values = {metric: arm.values[metric] for metric in metrics if metric in arm.values}
        labels = {DEFAULT_KIND: name}
        runs.append(Run(arm.trial_index, arm.arm_name, dict(arm.parameters), point, values, True, "user", labels))
    if errors:
        missing = [n for n in space.names if n not in source.values and not any(n in arm.parameters for arm in arms)]
        example = f"sources={{{name!r}: OldExperiment(old, was={{{missing[0]!r}: ...}})}}" if missing else ""
        advice = f"; say what was: generation_strategy({example})" if missing else ""
        why = f"have no place in this experiment: {errors[0]}{advice}"
        warn(f"{len(errors)} of {len(arms)} arms of {name!r} {why}", NumericsWarning)
    return runs


def iterate_auxiliary(experiment: Any) -> Iterator[tuple[str, Any]]:
    """The experiments that are attached to be learned from, by name, active or not.

    Raises:
        ValueError: If one has no name, or two have the same.
    """
    names = set[str]()
    for auxiliary in experiment.auxiliary_experiments_by_purpose.get(PURPOSE, ()):
        if (name := auxiliary.experiment._name) is None:
            advice = "configure_experiment(..., name='2025')"
            raise ValueError(f"an auxiliary experiment must have a name, by which it is a source, got none; {advice}")
        if name in names:
            raise ValueError(f"auxiliary experiments must have different names, got {short_list([name, name])}")
        names.add(name)
        yield name, auxiliary
