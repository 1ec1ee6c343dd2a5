"""The best of the arms that an Ax client has tried, and those that none beats, by what is believed of their values."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from robustbo.ax.experiment import Run
from robustbo.ax.seen import ClientReader
from robustbo.searchspace.parameters import Value


class Best(NamedTuple):
    """The best of the tried arms, with posterior mean and standard deviation of the objective there.

    With fixed parameters, ``parameters`` are those of the arm except for these, and so are mean and deviation.

    Attributes:
        outcomes: Where there are outcome constraints: mean and standard deviation of each metric.
        probability_feasible: That it keeps all outcome constraints.
    """

    trial_index: int
    arm_name: str
    parameters: dict[str, Any]
    mean: float
    sd: float
    outcomes: Mapping[str, tuple[float, float]] = {}
    probability_feasible: float = 1.0


class FrontArm(NamedTuple):
    """An arm of the Pareto front: by the surrogates, no other tried arm beats it.

    Attributes:
        trial_index: Ax's number of the trial.
        arm_name: Ax's name of the arm.
        parameters: Its parameters; with fixed ones, those of the arm except for these.
        means: Posterior mean of each metric of an objective or an outcome constraint.
        sds: Standard deviation of each.
        probability: That it keeps the outcome constraints and is beaten by no other arm tried, by joint samples.
        probability_feasible: That it keeps the outcome constraints.
    """

    trial_index: int
    arm_name: str
    parameters: dict[str, Any]
    means: dict[str, float]
    sds: dict[str, float]
    probability: float
    probability_feasible: float


def best(client: Any, fixed_parameters: Mapping[str, Any] | None = None) -> Best:
    """The best of the tried arms, never one whose every value looks wrong.

    The surrogate is that of the client's strategy, or relevance pursuit for other strategies. An arm that breaks a
    parameter constraint (one added later) is the best only if all arms do.

    With outcome constraints it is the best of the arms that probably keep them, or else the arm most likely to keep
    them; see `robustbo.loop.best.constrained_best.best`. Bounds relative to a baseline use the baseline's posterior
    mean.

    Args:
        client: An Ax client; it is only read.
        fixed_parameters: Values of some parameters: the best arm after it is changed to these.

    Raises:
        ValueError: If there are several objectives, of which `front` returns the arms that no other beats, or a
            weighted sum of metrics; or a metric has not been measured; or the fixed parameters are not in the space.
        FitError: If parameters are fixed, or there are outcome constraints, and no surrogate can be fitted.
    """
    view, runs = ClientReader(client).view()
    if len(names := [name for name, _ in view.settings.objectives]) > 1:
        advice = "front(client) returns the arms that no other beats"
        raise ValueError(f"best must have one objective, got {names}; {advice}")
    incumbent = view.best(view.space.partial(fixed_parameters))
    run = runs[incumbent.trial.number]
    arm = run.trial_index, run.arm_name, _parameters(run, incumbent.moved)
    return Best(*arm, incumbent.mean, incumbent.sd, incumbent.outcomes, incumbent.probability_feasible)


def front(client: Any, fixed_parameters: Mapping[str, Any] | None = None) -> list[FrontArm]:
    """The arms tried that are believed to keep the outcome constraints and to be beaten by no other.

    Those of which some metric's every value looks wrong are left out. Thresholds of objectives are constraints as well.
    The first is the best in the first objective; where no arm probably keeps the constraints there is none.

    Args:
        client: An Ax client; it is only read.
        fixed_parameters: Values of some parameters; the front is of the arms after all are changed to these.

    Raises:
        ValueError: If there is one objective only, or a weighted sum of metrics; or a metric has not been measured; or
            the fixed parameters are none of the search space.
        FitError: If no surrogate can be fitted.
    """
    view, runs = ClientReader(client).view()
    if len(view.settings.objectives) < 2:
        raise ValueError("front must have several objectives, got one; best(client) gives the best arm")
    arms = []
    for point in view.front(view.space.partial(fixed_parameters)):
        run = runs[point.trial.number]
        outcomes = dict(point.means), dict(point.sds), point.probability, point.probability_feasible
        arms.append(FrontArm(run.trial_index, run.arm_name, _parameters(run, point.moved), *outcomes))
    return arms


def _parameters(run: Run, moved: Mapping[str, Value] | None) -> dict[str, Any]:
    return run.params if moved is None else dict(moved)
