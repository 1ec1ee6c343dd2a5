"""An Ax experiment as a history of ours; nothing of Ax is imported here, only looked at."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Direction

DESIGNS = {"Sobol", "Uniform", "InSampleUniform", "Factorial", "CenterOfSearchSpace"}  # generators that need no data


class Run(NamedTuple):
    """One arm of one trial of an experiment.

    Attributes:
        trial_index: Ax's number of the trial.
        arm_name: Ax's name of the arm.
        params: Its parameters, fixed ones included.
        point: The same in our space.
        value: Of the metric; None where there is none, or none that counts.
        sd: Of the value's noise, where known.
        is_over: Whether no value is to come any more.
        origin: "sobol" for any design, "model", or "user" where it was attached.
    """

    trial_index: int
    arm_name: str
    params: dict[str, Any]
    point: dict[str, Value]
    value: float | None
    sd: float | None
    is_over: bool
    origin: str


def objective_of(experiment: Any) -> tuple[str, Direction]:
    """The objective's metric and direction.

    Raises:
        ValueError: If there is not exactly one.
    """
    config = experiment.optimization_config
    objective = config.objective if config is not None else None
    if objective is None or len(objective.metric_names) != 1:
        raise ValueError(f"the experiment must have one objective, got {objective!r}; configure_optimization first")
    return objective.metric_names[0], "minimize" if objective.minimize else "maximize"


def objectives_of(experiment: Any) -> tuple[str, ...]:
    """The metrics of all objectives.

    Raises:
        ValueError: If there is none.
    """
    if (config := experiment.optimization_config) is None:
        raise ValueError("the experiment must have an objective, got none; configure_optimization first")
    return tuple(config.objective.metric_names)


def runs_of(experiment: Any, space: Space, *metrics: str) -> list[Run]:
    """All arms within the space (Ax lets others be attached), by trial; matched to their data by index and name.

    A value that is not finite, and any value of a trial that failed or was abandoned, is none. Of several metrics it is
    the first's, and none where any other has none. A trial that is stale has never run, and is left out.
    """
    return list(_runs(experiment, space, [_found(experiment, metric) for metric in metrics]))


def ended_arms(experiment: Any) -> Iterator[tuple[Any, Any, bool]]:
    """The arms that have ended, wherever they are, by trial: what Ax notes of each, and whether it gave a value.

    That is, of every objective.
    """
    found = [_found(experiment, metric) for metric in objectives_of(experiment)]
    for index, trial in sorted(experiment.trials.items()):
        for arm in trial.arms:
            value, _ = _value(trial, arm, [values.get((index, arm.name)) for values in found])
            if value is not None or _is_over(trial):
                yield arm, trial._get_candidate_metadata(arm.name), value is not None


Found = dict[tuple[int, str], tuple[float, float]]  # mean and standard error by trial and arm


def _found(experiment: Any, metric: str) -> Found:
    data = experiment.lookup_data().df
    rows = data[data["metric_name"] == metric] if len(data) else data
    return {(row.trial_index, row.arm_name): (row.mean, row.sem) for row in rows.itertuples()}


def _runs(experiment: Any, space: Space, found: Sequence[Found]) -> Iterator[Run]:
    for index, trial in sorted(experiment.trials.items()):
        for arm in trial.arms:
            try:
                point = space.validate({name: arm.parameters[name] for name in space.names if name in arm.parameters})
            except SpaceError:
                continue
            value, sd = _value(trial, arm, [values.get((index, arm.name)) for values in found])
            if value is None and trial.status.is_stale:
                continue
            params = dict(arm.parameters)
            yield Run(index, arm.name, params, point, value, sd, _is_over(trial), _origin(trial, arm))


def _value(trial: Any, arm: Any, found: Sequence[tuple[float, float] | None]) -> tuple[float | None, float | None]:
    """The first value that was found and its standard deviation; None where none counts, or another is missing."""
    is_there = all(pair is not None and math.isfinite(pair[0]) for pair in found)
    if not is_there or trial.status.is_failed or trial.status.is_abandoned or _is_abandoned(trial, arm):
        return None, None
    value, sd = cast(tuple[float, float], found[0])
    return float(value), float(sd) if sd is not None and sd > 0 else None


def _is_abandoned(trial: Any, arm: Any) -> bool:
    """Whether an arm of a batch was abandoned alone."""
    return any(other.name == arm.name for other in getattr(trial, "abandoned_arms", ()))


def _is_over(trial: Any) -> bool:
    """Whether a trial that ran will give no value any more."""
    return trial.status.is_terminal and not trial.status.is_stale


def _origin(trial: Any, arm: Any) -> str:
    makers = [run for run in trial.generator_runs if any(other.name == arm.name for other in run.arms)]
    keys = {getattr(run, "_generator_key", None) for run in makers} - {None}
    return "model" if keys - DESIGNS else "sobol" if keys else "user"


def history_of(runs: Sequence[Run]) -> History:
    """The runs as trials, in order; one at the point of an earlier one repeats it."""
    history, first = History(), dict[tuple[Any, ...], int]()
    for number, run in enumerate(runs):
        event: dict[str, Any] = {"event": "ask", "trial": number, "params": run.point, "origin": run.origin}
        earlier = first.setdefault(tuple(run.point.items()), number)
        history = history.apply(event if earlier == number else event | {"repeats": earlier})
        if run.value is not None:
            history = history.apply({"event": "tell", "trial": number, "value": run.value, "sd": run.sd})
        elif run.is_over:
            history = history.apply({"event": "fail", "trial": number, "reason": "no data"})
    return history
