"""Outliers, failures and replicates of an Ax client, by our surrogates; Ax is only looked at, never imported."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from robustbo.ax.experiment import ALL_OR_NONE, Run
from robustbo.ax.seen import FITS, ClientReader
from robustbo.ax.wanted import find_goals, metrics_of
from robustbo.trials.former_names import former_name, reads_old_names
from robustbo.trials.settings import DEFAULT_MAX_REPLICATES, Failures, Replicate
from robustbo.validation import nearest, real
from robustbo.view.frame import failure_frame, outlier_frame

__all__ = ["FITS", "complete", "failures", "next_repeat", "next_replicate", "outliers"]

EVIDENCE_COLUMNS = (
    "value",
    "expected",
    "sd",
    "evidence",
    "probability_wrong",
    "status",
    "flagged",
)  # of a value, in a frame


def outliers(client: Any, metric: str | None = None) -> pd.DataFrame:
    """Evidence on each value, a row an arm and metric, the most suspicious of each metric first.

    The surrogate is that of the client's strategy, or relevance pursuit for other strategies.

    Columns: trial_index, arm_name, metric, value, expected, sd (of what is expected), evidence (nats),
    probability_wrong, status (what is believed of it, in a word), flagged.

    Args:
        client: An Ax client; it is only read.
        metric: One metric; all that were measured by default.

    Raises:
        ValueError: If there is no such metric.
    """
    reader, frames = ClientReader(client), []
    metrics = reader.experiment.metrics
    if metric is not None and metric not in metrics:
        raise ValueError(f"metric must be one of {sorted(metrics)}, got {metric!r}")
    fits, goals = reader.fits, find_goals(reader.experiment)
    for name in sorted(metrics) if metric is None else [metric]:
        of_metric = fits.of(name) if goals.is_several else fits
        direction = goals.directions.get(name, "minimize")
        view, runs = reader.view_of_metric(name, f"outliers {name}", direction, of_metric)
        if view.history.having("told"):
            frames.append(_by_arm(outlier_frame(view.outliers()), runs, metric=name))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return frame.reindex(columns=["trial_index", "arm_name", "metric", *EVIDENCE_COLUMNS])


def failures(client: Any) -> pd.DataFrame:
    """One row for each arm without a value, and whether the point or a flake probably caused the failure.

    Trials that failed, were abandoned, or were completed without a finite value of any metric of an objective or an
    outcome constraint.

    Columns: trial_index, arm_name, looks_like ("region" or "flake"), log_odds (of a flake, in nats), again (what became
    of other trials at its point: "told", "failed" or "pending"; missing where there is none); see
    `robustbo.loop.feasibility.report.Failure`.

    Args:
        client: An Ax client; it is only read.

    Raises:
        ValueError: If there is no objective.
    """
    view, runs = ClientReader(client).view_of_failures()
    return _by_arm(failure_frame(view.failures()).drop(columns="reason"), runs)


def _by_arm(frame: pd.DataFrame, runs: Sequence[Run], **columns: str) -> pd.DataFrame:
    """A frame by trial with Ax's index and name of each arm in place of our number, and further columns after these."""
    arms = [runs[number] for number in frame.index]
    names = {"trial_index": [arm.trial_index for arm in arms], "arm_name": [arm.arm_name for arm in arms], **columns}
    return frame.assign(**names)[[*names, *frame.columns]].reset_index(drop=True)


def complete(client: Any, trial_index: int, raw_data: Mapping[str, Any]) -> bool:
    """Complete a trial, or mark it as failed if a number is not finite: an infinity would break Ax's next generation.

    Where several metrics are objectives or have outcome constraints, one that is not finite is missing, it alone; the
    trial has failed where all of them are.

    Args:
        client: Ax's `Client` or `AxClient`.
        trial_index: Of the trial.
        raw_data: Metric -> value, or (value, standard error), which is unknown if NaN or None. Where one metric is
            wanted, tracking metrics count: one that is not finite fails the whole trial, so leave it out if the trial
            is good without it.

    Returns:
        Whether it was completed.

    Raises:
        TypeError: If a value is no number and no pair of two.
        ValueError: If a standard error is negative or infinite, or is told for some of a metric's values and not for
            others, which no model can take.
    """
    if not isinstance(raw_data, Mapping) or not raw_data:
        raise TypeError(f"raw_data must be a mapping of metrics to values, got {raw_data!r}")
    metrics = {*client._experiment.metrics}
    missing = {*metrics_of(client._experiment)} - raw_data.keys()
    for name in raw_data.keys() - metrics:  # a further metric is one to track, if it is not a misspelt one
        if hint := nearest(name, missing):
            raise ValueError(f"a metric must be one of {sorted(metrics)}, got {name!r}{hint}")
    told = {name: _pair(name, value) for name, value in raw_data.items()}
    wrong = {name: pair for name, pair in told.items() if not math.isfinite(pair[0])}
    told = {name: pair for name, pair in told.items() if name not in wrong}
    if wrong and not (len(needed := metrics_of(client._experiment)) > 1 and told.keys() & {*needed}):
        reason = {"failed_reason": f"not finite: {wrong}"}
        if hasattr(client, "mark_trial_failed"):
            client.mark_trial_failed(trial_index, **reason)
        else:  # an `AxClient`
            client.log_trial_failure(trial_index, metadata=reason)
        return False
    data = client._experiment.lookup_data().df
    for name, (_, *sem) in told.items():
        before: Any = data[data["metric_name"] == name]["sem"] if len(data) else []
        if len(before) and bool(sem) != bool(before.notna().all()):
            raise ValueError(f"{name} {ALL_OR_NONE}, got {raw_data[name]!r}")
    client.complete_trial(trial_index, {name: pair if len(pair) == 2 else pair[0] for name, pair in told.items()})
    return True


def _pair(name: str, value: Any) -> tuple[float, ...]:
    """A value, and its standard error if that is known."""
    if not isinstance(value, tuple):
        return (real(name, value),)
    if len(value) != 2:
        raise TypeError(f"{name} must be a value or (value, standard error), got {value!r}")
    mean, sem = real(name, value[0]), math.nan if value[1] is None else real(f"{name}'s standard error", value[1])
    if sem < 0 or sem == math.inf:
        raise ValueError(f"{name}'s standard error must be finite and at least 0, got {sem}; NaN if it is unknown")
    return (mean,) if math.isnan(sem) else (mean, sem)


@reads_old_names
def next_replicate(
    client: Any,
    *,
    surrogate: str | None = None,
    replicate: Replicate = "flagged",
    max_replicates: int = DEFAULT_MAX_REPLICATES,
    failures: Failures = "learn",
    seed: int = 0,
    fixed_parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The parameters of the earlier trial whose replicate is worth more than a new point, or None.

    That is a completed trial whose value is in doubt; or one that failed or was abandoned, looks like a flake, and
    promises nearly as much as the best new point: it is tried again, once.

    Ax's generation nodes propose new arms and never one that the experiment has, so this is asked before
    `Client.get_next_trials`, and answered by `Client.attach_trial`. It decides as `Optimizer.ask` does, from the
    surrogate alone: what Ax's own model had expected is not known. An arm that breaks a parameter constraint is not
    repeated.

    Args:
        client: An Ax client; it is only read. With several objectives or with outcome constraints, a replicate measures
            all metrics.
        surrogate: A registry name, that of the client's strategy by default; with "flagged" it must be one that
            flags outliers, or nothing is ever repeated.
        replicate: "flagged", "any" or "never".
        max_replicates: How many replicates one point may get.
        failures: "learn" which failed trials may be flakes; or "ignore" them all.
        seed: Of the comparison with a new point.
        fixed_parameters: Values that an arm must have to be repeated now, as in `Client.get_next_trials`.

    Raises:
        ValueError: If a weighted sum of metrics is an objective, or bounded, or there is a parameter of another kind;
            or the fixed parameters are none of the search space.

    Example:
        >>> def next_trial(client):
        ...     if (params := next_replicate(client)) is not None:
        ...         return client.attach_trial(params), params
        ...     return next(iter(client.get_next_trials(max_trials=1).items()))
    """
    reader = ClientReader(client)
    if not reader.has_values():
        return None
    how: dict[str, Any] = {"replicate": replicate, "max_replicates": max_replicates, "failures": failures}
    view, runs = reader.view(surrogate, seed=seed, **how)
    repeats = view.suggest(len(view.history), view.space.partial(fixed_parameters)).repeats
    return None if repeats is None else dict(runs[repeats].params)


next_repeat = former_name("next_repeat", next_replicate)
