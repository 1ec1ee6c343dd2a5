"""Values that trials attach on their way, as values of the sources that are levels; see `robustbo.fidelity_levels`.

Ax calls the way a progression: epochs, or the size of a sample. What a trial of the target attaches at the progression
of a level is a value of that level. The target's own value is that of a completed trial, or one at the target's level.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from robustbo.ax.experiment import Run, ValuesByArm, iterate_arms
from robustbo.trials.declared import Declared, source_in
from robustbo.trials.sources import DEFAULT_KIND

Key = tuple[int, str]  # of an arm: trial and name


def with_levels(experiment: Any, declared: Declared, runs: Sequence[Run], metrics: Sequence[str]) -> list[Run]:
    """The runs of an experiment, and those that its trials are of levels on their way.

    Args:
        experiment: It.
        declared: The sources.
        runs: Its own runs. Of those of the target that have not come to the end, the values are left out.
        metrics: Those whose values count.
    """
    levels = {name: source.level for name, source in declared if source.level is not None}
    data = experiment.lookup_data()
    if not levels or not data.has_step_column:
        return list(runs)
    own = {_key(run): run for run in runs if source_in(declared, run.sources) is None}
    (target,) = (levels.pop(name) for name, source in declared if source.target)
    partial = {*_partial_arms(experiment, data.df, target)}
    at_levels = [
        own[key]._replace(values=values, is_over=True, origin="user", sources={DEFAULT_KIND: name})
        for name, level in levels.items()
        for key, values in _values_at(experiment, data.full_df, metrics, level)
        if key in own
    ]
    of_end = [_without_value(run) if run.values and _key(run) in partial & own.keys() else run for run in runs]
    return [*(run for run in of_end if run is not None), *at_levels]


def _key(run: Run) -> Key:
    return run.trial_index, run.arm_name


def _partial_arms(experiment: Any, last: Any, target: float | None) -> Iterator[Key]:
    """The arms whose last values are neither of a completed trial nor of the target's level."""
    for row in last.itertuples():
        is_at_end = math.isnan(row.step) or row.step == target
        if not (is_at_end or experiment.trials[row.trial_index].status.is_completed):
            yield row.trial_index, row.arm_name


def _without_value(run: Run) -> Run | None:
    """A run that is on its way; None where it has been stopped, which is no failure."""
    return None if run.is_over else run._replace(values={})


def _values_at(experiment: Any, full: Any, metrics: Sequence[str], level: float) -> Iterator[tuple[Key, Any]]:
    """The values that count at a level, by arm."""
    rows = full[full["step"] == level]
    tables: dict[str, ValuesByArm] = {metric: {} for metric in metrics}
    for row in rows[rows["metric_name"].isin(metrics)].itertuples():
        tables[row.metric_name][row.trial_index, row.arm_name] = row.mean, row.sem
    for trial, arm, values, _ in iterate_arms(experiment, tables):
        if values:
            yield (trial.index, arm.name), values
