"""An Ax experiment as a history of ours; nothing of Ax is imported here, only looked at."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.ax.wanted import metrics_of
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Declared, source_in
from robustbo.trials.history import History
from robustbo.trials.sources import labels_to_record

Noisy = tuple[float, float | None]  # a value, and the standard deviation of its noise where known
ALL_OR_NONE = "must have a standard error at all trials or at none"  # since BoTorch's models take no NaN in some
DESIGNS = {
    "Sobol",
    "Fallback_Sobol",
    "Uniform",
    "InSampleUniform",
    "Factorial",
    "CenterOfSearchSpace",
}  # generators that need no data
SOURCE = "source"  # the key, in the metadata of trials and candidates, of what measures them
ORIGIN = "origin"  # likewise of where a candidate of a generator that makes both is from: "sobol" or "model"


class Run(NamedTuple):
    """One arm of one trial of an experiment.

    Attributes:
        trial_index: Ax's number of the trial.
        arm_name: Ax's name of the arm.
        params: Its parameters, fixed ones included.
        point: The same in our space.
        values: By metric, where there is a value that counts: it, and the standard deviation of its noise where known.
        is_over: Whether no value is to come any more.
        origin: "sobol" for any design, "model", or "user" where it was attached.
        sources: What measured it, or is to, by kind; see `source_labels`.
    """

    trial_index: int
    arm_name: str
    params: dict[str, Any]
    point: dict[str, Value]
    values: dict[str, Noisy]
    is_over: bool
    origin: str
    sources: dict[str, str] = {}  # noqa: RUF012 - never changed


def runs_of(experiment: Any, space: Space, *metrics: str) -> list[Run]:
    """All arms, outside the space too (Ax lets such be attached), by trial; matched to their data by index and name.

    A value that is not finite, and any value of a trial that failed or was abandoned, is none. A trial that is stale
    has never run, and is left out.
    """
    data = experiment.lookup_data()
    return list(_runs(experiment, space, {metric: values_by_arm(data, metric) for metric in metrics}))


def iterate_ended_arms(experiment: Any) -> Iterator[tuple[Any, Any, bool]]:
    """The arms that have ended, wherever they are, by trial: what Ax notes of each, and whether it gave a value.

    That is, of any metric of an objective or an outcome constraint: where others are missing, they alone are.
    """
    data = experiment.lookup_data()
    values_of_metric = {metric: values_by_arm(data, metric) for metric in metrics_of(experiment)}
    for trial, arm, values, is_over in iterate_arms(experiment, values_of_metric):
        if values or is_over:
            yield arm, trial._get_candidate_metadata(arm.name), bool(values)


ValuesByArm = dict[tuple[int, str], tuple[float, float]]  # mean and standard error by trial and arm


def values_by_arm(data: Any, metric: str) -> ValuesByArm:
    """The mean and the standard error of a metric by trial and arm, of an experiment's data."""
    rows = data.df[data.df["metric_name"] == metric] if len(data.df) else data.df
    return {(row.trial_index, row.arm_name): (row.mean, row.sem) for row in rows.itertuples()}


def iterate_arms(
    experiment: Any, values_of_metric: Mapping[str, ValuesByArm]
) -> Iterator[tuple[Any, Any, dict[str, Noisy], bool]]:
    """The arms by trial: the trial, the arm, the values that count, and whether none is to come any more."""
    for _, trial in sorted(experiment.trials.items()):
        for arm in trial.arms:
            yield trial, arm, _values(trial, arm, values_of_metric), _is_over(trial)


def point_in(space: Space, parameters: Mapping[str, Any]) -> dict[str, Value]:
    """The point of an arm, in the space or not, without the parameters that the space does not have there.

    Raises:
        SpaceError: As `Space.measured_point`.
    """
    own = {name: parameters[name] for name in space.names if name in parameters}
    present = space.existing(own)
    return space.measured_point({name: value for name, value in own.items() if name in present})


def source_labels(trial: Any, arm: Any) -> dict[str, str]:
    """Labels of what measured an arm, or is to, by kind.

    They are those of the trial's ``run_metadata["source"]``, a label or labels by kind, and those with which the arm
    was generated.
    """
    noted = trial._get_candidate_metadata(arm.name) or {}
    return {**labels_to_record(noted.get(SOURCE)), **labels_to_record(trial.run_metadata.get(SOURCE))}


def _runs(experiment: Any, space: Space, values_of_metric: Mapping[str, ValuesByArm]) -> Iterator[Run]:
    for trial, arm, values, is_over in iterate_arms(experiment, values_of_metric):
        try:
            point = point_in(space, arm.parameters)
        except SpaceError:
            continue
        if values or not trial.status.is_stale:
            result = (values, is_over, _origin(trial, arm), source_labels(trial, arm))
            yield Run(trial.index, arm.name, dict(arm.parameters), point, *result)


def _values(trial: Any, arm: Any, values_of_metric: Mapping[str, ValuesByArm]) -> dict[str, Noisy]:
    """The values that count, by metric, each with its standard deviation where that is known."""
    if trial.status.is_failed or trial.status.is_abandoned or _is_abandoned(trial, arm):
        return {}
    pairs = ((metric, values.get((trial.index, arm.name))) for metric, values in values_of_metric.items())
    return {metric: _noisy(*pair) for metric, pair in pairs if pair is not None and math.isfinite(pair[0])}


def _noisy(mean: float, sem: float | None) -> Noisy:
    return float(mean), float(sem) if sem is not None and sem >= 0 else None  # it is unknown to Ax if it is NaN


def _is_abandoned(trial: Any, arm: Any) -> bool:
    """Return whether an arm of a batch was abandoned alone."""
    return any(other.name == arm.name for other in getattr(trial, "abandoned_arms", ()))


def _is_over(trial: Any) -> bool:
    """Return whether a trial that ran will give no value any more."""
    return trial.status.is_terminal and not trial.status.is_stale


def _origin(trial: Any, arm: Any) -> str:
    if (noted := trial._get_candidate_metadata(arm.name) or {}).get(ORIGIN):
        return str(noted[ORIGIN])
    makers = [run for run in trial.generator_runs if any(other.name == arm.name for other in run.arms)]
    keys = {getattr(run, "_generator_key", None) for run in makers} - {None}
    return "model" if keys - DESIGNS else "sobol" if keys else "user"


def history_of(runs: Sequence[Run], *, is_named: bool = False, declared: Declared = ()) -> History:
    """The runs as trials, in order; one at the point of an earlier one of its source repeats it.

    Args:
        runs: Of one metric, or of several.
        is_named: Whether the values are told by the names of their metrics.
        declared: The sources that are declared: which of them is to measure is known of an ask already.
    """
    history, first = History(), dict[tuple[Any, ...], int]()
    for number, run in enumerate(runs):
        event: dict[str, Any] = {"event": "ask", "trial": number, "params": run.point, "origin": run.origin}
        event |= {"source": run.sources} if declared and run.sources else {}
        earlier = first.setdefault((source_in(declared, run.sources), *run.point.items()), number)
        history = history.apply(event if earlier == number else event | {"repeats": earlier})
        if run.values:
            source = {"source": run.sources} if run.sources else {}
            history = history.apply({"event": "tell", "trial": number, **_tell_event(run.values, is_named), **source})
        elif run.is_over:
            history = history.apply({"event": "fail", "trial": number, "reason": "no data"})
    return history


def _tell_event(values: Mapping[str, Noisy], is_named: bool) -> dict[str, Any]:
    if not is_named:
        ((value, sd),) = values.values()
        return {"value": value, "sd": sd}
    return {key: {name: pair[i] for name, pair in values.items()} for i, key in enumerate(("value", "sd"))}
