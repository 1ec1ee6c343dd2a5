"""Inside Ax: which completed trial to measure again, by the policy of our own loop."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from robustbo.errors import SpaceError
from robustbo.history import History
from robustbo.parameters import Choice, Float, Int, Parameter, Value
from robustbo.settings import DEFAULT_SURROGATE, Settings, default_num_initial
from robustbo.space import Space
from robustbo.suggest import step

if TYPE_CHECKING:
    from ax.api.client import Client


class _Run(NamedTuple):
    """One arm of one trial of an experiment, and its point in our space; the value is None where it has none yet."""

    params: dict[str, Any]
    point: dict[str, Value]
    value: float | None
    sd: float | None
    is_failed: bool


def next_repeat(
    client: "Client",
    *,
    surrogate: str = DEFAULT_SURROGATE,
    remeasure: str = "promising",
    max_repeats: int = 2,
    seed: int = 0,
) -> dict[str, Any] | None:
    """The parameters of a completed trial that is worth more when measured again than a new point; None if none is.

    Ax's generation nodes propose new arms and never one that the experiment has, so this is asked before
    `Client.get_next_trials`, and answered by `Client.attach_trial`. It decides as `Optimizer.ask` does, from the
    surrogate alone: what Ax's own model had expected is not known.

    Args:
        client: An Ax client with one objective; it is only read.
        surrogate: A registry name; with "promising" it must be one that flags outliers, or nothing is ever repeated.
        remeasure: "promising", "suspicious" or "never".
        max_repeats: How many measurements more one point may get.
        seed: Of the comparison with a new point.

    Raises:
        ValueError: If the experiment has several objectives, or a parameter of another kind.

    Example:
        >>> def next_trial(client):
        ...     if (params := next_repeat(client)) is not None:
        ...         return client.attach_trial(params), params
        ...     return next(iter(client.get_next_trials(max_trials=1).items()))
    """
    experiment = client._experiment
    objective = experiment.optimization_config.objective if experiment.optimization_config is not None else None
    if objective is None or len(objective.metric_names) != 1:
        raise ValueError(f"the experiment must have one objective, got {objective!r}; configure_optimization first")
    space = Space.from_dict(dict(_parameters(experiment.search_space)))
    settings = Settings(
        space=space,
        direction="minimize" if objective.minimize else "maximize",
        surrogate=surrogate,
        num_initial=default_num_initial(space),
        seed=seed,
        remeasure=remeasure,
        max_repeats=max_repeats,
    )
    runs = list(_runs(experiment, space, objective.metric_names[0]))
    history = _history(runs)
    if not history.having("told"):
        return None
    repeats = step(settings, history, len(history)).repeats
    return None if repeats is None else dict(runs[repeats].params)


def _parameters(search_space: Any) -> Iterator[tuple[str, Parameter]]:
    for name, parameter in search_space.parameters.items():
        if hasattr(parameter, "lower"):
            low, high, is_log = parameter.lower, parameter.upper, bool(parameter.log_scale)
            is_whole = parameter.parameter_type.name == "INT"
            yield name, Int(int(low), int(high), is_log) if is_whole else Float(float(low), float(high), is_log)
        elif hasattr(parameter, "values"):
            yield name, Choice(*parameter.values)
        elif not hasattr(parameter, "value"):  # a fixed one has one and is no dimension
            raise ValueError(f"{name} must be a range, a choice or fixed, got {parameter!r}")


def _runs(experiment: Any, space: Space, metric: str) -> Iterator[_Run]:
    """All arms within the space; Ax lets others be attached."""
    data = experiment.lookup_data().df
    rows = data[data["metric_name"] == metric] if len(data) else data
    found = {(row.trial_index, row.arm_name): (row.mean, row.sem) for row in rows.itertuples()}
    for index, trial in sorted(experiment.trials.items()):
        for arm in trial.arms:
            try:
                point = space.validate({name: arm.parameters[name] for name in space.names})
            except SpaceError:
                continue
            value, sd = found.get((index, arm.name), (math.nan, math.nan))
            is_known = sd is not None and sd > 0
            yield _Run(
                dict(arm.parameters),
                point,
                value if math.isfinite(value) else None,
                sd if is_known else None,
                trial.status.is_terminal,
            )


def _history(runs: list[_Run]) -> History:
    """The runs as trials; one at the point of an earlier one repeats it."""
    history, first = History(), dict[tuple[Any, ...], int]()
    for number, run in enumerate(runs):
        event: dict[str, Any] = {"event": "ask", "trial": number, "params": run.point, "origin": "user"}
        earlier = first.setdefault(tuple(run.point.values()), number)
        history = history.apply(event if earlier == number else event | {"repeats": earlier})
        if run.value is not None:
            history = history.apply({"event": "tell", "trial": number, "value": float(run.value), "sd": run.sd})
        elif run.is_failed:
            history = history.apply({"event": "fail", "trial": number, "reason": "no data"})
    return history
