"""What a client of Ax has measured, in our surrogates' words; nothing of Ax is imported here, only looked at."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pandas as pd

from robustbo.ax.experiment import history_of, objective_of, objectives_of, runs_of
from robustbo.ax.space import space_of
from robustbo.loop.cache import FitCache
from robustbo.loop.decide import step
from robustbo.loop.failures import failures as failed
from robustbo.loop.incumbent import incumbent
from robustbo.loop.outliers import outliers as reported
from robustbo.searchspace.space import Space
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.settings import (
    DEFAULT_MAX_REPEATS,
    DEFAULT_SURROGATE,
    Direction,
    Failures,
    Settings,
    default_num_initial,
    options_text,
)
from robustbo.validation import real

FITS: WeakKeyDictionary[Any, FitCache] = WeakKeyDictionary()  # by client, as long as it is there


class Best(NamedTuple):
    """The best arm among those tried, with posterior mean and standard deviation of the objective there.

    With fixed parameters, ``parameters`` are those of the arm but for these, and so are mean and deviation.
    """

    trial_index: int
    arm_name: str
    parameters: dict[str, Any]
    mean: float
    sd: float


def best(client: Any, fixed_parameters: Mapping[str, Any] | None = None) -> Best:
    """The best arm tried, never one whose every value looks wrong.

    By the surrogate of the client's strategy, or by relevance pursuit where that is none of ours. One that breaks a
    parameter constraint (of those added later) is the best only where all do.

    Args:
        client: An Ax client; it is only read.
        fixed_parameters: Values of some parameters: the arm that is best when it is changed to these.

    Raises:
        ValueError: If there is not one objective, there are outcome constraints (whose models Ax has, not we), or
            nothing has been measured; or the fixed parameters are none of the search space.
        FitError: If parameters are fixed and no surrogate can be fitted.
    """
    experiment = client._experiment
    metric, direction = objective_of(experiment)
    if experiment.optimization_config.outcome_constraints:
        raise ValueError("best must not have outcome constraints to meet; ask client.get_best_parameterization()")
    space = space_of(experiment)
    runs = runs_of(experiment, space, metric)
    fixed = space.partial(fixed_parameters)
    found = incumbent(_settings(client, space, direction), history_of(runs), _fits(client), fixed)
    run = runs[found.trial.number]
    params = run.params if found.moved is None else dict(found.moved)
    return Best(run.trial_index, run.arm_name, params, found.mean, found.sd)


def outliers(client: Any, metric: str | None = None) -> pd.DataFrame:
    """What each value is worth, a row an arm and metric, the most suspicious of each metric first.

    By the surrogate of the client's strategy, or by relevance pursuit where that is none of ours.

    Columns: trial_index, arm_name, metric, value, expected, sd (of what is expected), evidence (nats), flagged.

    Args:
        client: An Ax client; it is only read.
        metric: One metric; all that were measured unless given.

    Raises:
        ValueError: If there is no such metric.
    """
    experiment, rows = client._experiment, []
    space = space_of(experiment)
    if metric is not None and metric not in experiment.metrics:
        raise ValueError(f"metric must be one of {sorted(experiment.metrics)}, got {metric!r}")
    metrics = sorted(experiment.metrics) if metric is None else [metric]
    for name in metrics:
        runs = runs_of(experiment, space, name)
        if not (history := history_of(runs)).having("told"):
            continue
        for o in reported(_settings(client, space, "minimize"), history, _fits(client), is_weighed=False):
            run = runs[o.trial.number]
            rows.append((run.trial_index, run.arm_name, name, o.value, o.expected, o.sd, o.evidence, o.flagged))
    columns = ["trial_index", "arm_name", "metric", "value", "expected", "sd", "evidence", "flagged"]
    return pd.DataFrame(rows, columns=columns)


def failures(client: Any) -> pd.DataFrame:
    """Every arm that gave no value, and whether it looks like its point's doing or like a flake, a row each.

    Trials that failed, were abandoned, or were completed without a finite value of every objective.

    Columns: trial_index, arm_name, looks_like ("region" or "flake"), log_odds (of a flake, in nats), again (what became
    of other trials at its point: "told", "failed" or "pending"; missing where there is none); see
    `robustbo.loop.failures.Failure`.

    Args:
        client: An Ax client; it is only read.

    Raises:
        ValueError: If there is no objective.
    """
    experiment = client._experiment
    metrics, space = objectives_of(experiment), space_of(experiment)
    runs = runs_of(experiment, space, *metrics)
    settings = _settings(client, space, "minimize")
    rows = [
        (runs[f.trial.number].trial_index, runs[f.trial.number].arm_name, f.looks_like, f.log_odds, f.again)
        for f in failed(settings, history_of(runs), _fits(client))
    ]
    return pd.DataFrame(rows, columns=["trial_index", "arm_name", "looks_like", "log_odds", "again"])


def complete(client: Any, trial_index: int, raw_data: Mapping[str, Any]) -> bool:
    """Complete a trial, or mark it as failed where a number is not finite: one infinity would end Ax's next generation.

    Args:
        client: An Ax client.
        trial_index: Of the trial.
        raw_data: Metric -> value, or (value, standard error). Tracking metrics count: one that is not finite fails the
            whole trial, so leave it out if the trial is good without it.

    Returns:
        Whether it was completed.

    Raises:
        TypeError: If a value is no number and no pair of two.
        ValueError: If a standard error is negative, or is told for some of a metric's values and not for others, which
            no model can take.
    """
    told = {name: _pair(name, value) for name, value in raw_data.items()}
    if wrong := {name: pair for name, pair in told.items() if not all(map(math.isfinite, pair))}:
        client.mark_trial_failed(trial_index, failed_reason=f"not finite: {wrong}")
        return False
    data = client._experiment.lookup_data().df
    for name, (_, *sem) in told.items():
        before: Any = data[data["metric_name"] == name]["sem"] if len(data) else []
        if len(before) and bool(sem) != bool(before.notna().all()):
            raise ValueError(f"{name} must have a standard error at all trials or at none, got {raw_data[name]!r}")
    client.complete_trial(trial_index, {name: pair if len(pair) == 2 else pair[0] for name, pair in told.items()})
    return True


def _pair(name: str, value: Any) -> tuple[float, ...]:
    """A value, and its standard error if it has one."""
    if not isinstance(value, tuple):
        return (real(name, value),)
    if len(value) != 2:
        raise TypeError(f"{name} must be a value or (value, standard error), got {value!r}")
    mean, sem = real(name, value[0]), real(f"{name}'s standard error", value[1])
    if sem < 0:
        raise ValueError(f"{name}'s standard error must be at least 0, got {sem}")
    return mean, sem


def next_repeat(
    client: Any,
    *,
    surrogate: str | None = None,
    remeasure: str = "promising",
    max_repeats: int = DEFAULT_MAX_REPEATS,
    failures: Failures = "learn",
    seed: int = 0,
    fixed_parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The parameters of an earlier trial whose re-evaluation is worth more than a new point; None if none is.

    That is a completed trial whose value is in doubt; or one that failed or was abandoned, looks like a flake, and
    promises nearly as much as the best new point: it is tried again, once.

    Ax's generation nodes propose new arms and never one that the experiment has, so this is asked before
    `Client.get_next_trials`, and answered by `Client.attach_trial`. It decides as `Optimizer.ask` does, from the
    surrogate alone: what Ax's own model had expected is not known. An arm that breaks a parameter constraint is not
    repeated.

    Args:
        client: An Ax client with one objective; it is only read.
        surrogate: A registry name, that of the client's strategy unless given; with "promising" it must be one that
            flags outliers, or nothing is ever repeated.
        remeasure: "promising", "suspicious" or "never".
        max_repeats: How many measurements more one point may get.
        failures: "learn" which failed trials may be flakes; or "ignore" them all.
        seed: Of the comparison with a new point.
        fixed_parameters: Values that an arm must have to be repeated now, as in `Client.get_next_trials`.

    Raises:
        ValueError: If the experiment has several objectives, or a parameter of another kind; or the fixed parameters
            are none of the search space.

    Example:
        >>> def next_trial(client):
        ...     if (params := next_repeat(client)) is not None:
        ...         return client.attach_trial(params), params
        ...     return next(iter(client.get_next_trials(max_trials=1).items()))
    """
    experiment = client._experiment
    metric, direction = objective_of(experiment)
    space = space_of(experiment)
    how: dict[str, Any] = {"remeasure": remeasure, "max_repeats": max_repeats, "failures": failures}
    settings = _settings(client, space, direction, surrogate, seed=seed, **how)
    runs = runs_of(experiment, space, metric)
    history = history_of(runs)
    if not history.having("told"):
        return None
    fixed = space.partial(fixed_parameters)
    repeats = step(settings, history, len(history), _fits(client), fixed).repeats
    return None if repeats is None else dict(runs[repeats].params)


def _fits(client: Any) -> FitCache:
    """The last fits to a client's trials."""
    return FITS.setdefault(client, FitCache())


def _settings(client: Any, space: Space, direction: Direction, surrogate: str | None = None, **rest: Any) -> Settings:
    """Ours for a client: with the surrogate of its strategy, or the default one, unless another is given."""
    name, options = _surrogate(client) if surrogate is None else (surrogate, {})
    initial = default_num_initial(space)
    return Settings(space, direction, name, options_text(options), num_initial=initial, **rest)


def _surrogate(client: Any) -> tuple[str, Mapping[str, Any]]:
    strategy = client._maybe_generation_strategy
    for node in strategy._nodes if strategy is not None else ():
        for spec in node.generator_specs:
            surrogate_spec = spec.generator_kwargs.get("surrogate_spec")
            for config in surrogate_spec.model_configs if surrogate_spec is not None else ():
                if config.name in SURROGATES:
                    return config.name, config.model_options
    return DEFAULT_SURROGATE, {}
