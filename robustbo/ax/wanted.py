"""Objectives and outcome constraints of an Ax experiment, in our words; Ax is only looked at, never imported."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from robustbo.trials.outcomes import OutcomeGoal, outcomes_of
from robustbo.trials.settings import Direction

Objectives = tuple[tuple[str, Direction], ...]


class Bound(NamedTuple):
    """One outcome constraint.

    Attributes:
        metric: What must keep it.
        is_least: Whether it is the least value that will do, or else the greatest.
        number: The bound; in per cent of the baseline's value, and added to it, where it is relative.
        is_relative: Whether it is.
    """

    metric: str
    is_least: bool
    number: float
    is_relative: bool

    def at(self, baseline: float) -> float:
        """The bound as a number, where the baseline has a value: Ax's rule (`derelativize_bound`)."""
        return baseline + abs(baseline) * self.number / 100


class Goals(NamedTuple):
    """Objectives and outcome constraints of an experiment.

    Attributes:
        objectives: Metrics and directions, in order.
        bounds: Those that metrics must keep; a threshold of one of several objectives is one as well.
    """

    objectives: Objectives
    bounds: tuple[Bound, ...]

    @property
    def is_several(self) -> bool:
        """Return whether more than one number an arm counts."""
        return len(self.objectives) > 1 or bool(self.bounds)

    @property
    def directions(self) -> dict[str, Direction]:
        """The direction in which each metric is better."""
        lows = {bound.metric for bound in self.bounds if bound.is_least}
        bounded = {bound.metric: _direction(1 if bound.metric in lows else -1) for bound in self.bounds}
        return bounded | dict(self.objectives)

    def absolute(self, baseline: Callable[[str], float]) -> "Goals":
        """Goals with no bound that is relative.

        Args:
            baseline: The value of a metric at the baseline.
        """
        bounds = (
            bound._replace(number=bound.at(baseline(bound.metric)), is_relative=False) if bound.is_relative else bound
            for bound in self.bounds
        )
        return Goals(self.objectives, tuple(bounds))

    @property
    def constraints(self) -> tuple[str, ...]:
        """The bounds in our words; none is relative."""
        return tuple(f"{bound.metric} {'>=' if bound.is_least else '<='} {bound.number!r}" for bound in self.bounds)

    @property
    def reference_point(self) -> tuple[tuple[str, float], ...]:
        """The thresholds of the objectives, where there are several and each has one; else none."""
        if len(self.objectives) < 2:
            return ()
        thresholds = {outcome.name: outcome.low if outcome.sign > 0 else outcome.high for outcome in self.outcomes}
        point = tuple((name, thresholds[name]) for name, _ in self.objectives)
        return point if all(abs(number) < float("inf") for _, number in point) else ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of all that is wanted, the objectives first."""
        return tuple(outcome.name for outcome in self.outcomes)

    def as_settings(self) -> dict[str, Any]:
        """Settings of several numbers an arm by their names; none where one number counts, which has no name."""
        if not self.is_several:
            return {}
        names = ("objectives", "outcome_constraints", "reference_point")
        return dict(zip(names, (self.objectives, self.constraints, self.reference_point), strict=True))

    @property
    def outcomes(self) -> tuple[OutcomeGoal, ...]:
        """All that is wanted, the objectives first; no bound is relative."""
        return outcomes_of(self.objectives, self.constraints)[0]


def goals_of(experiment: Any) -> Goals:
    """Objectives and outcome constraints of an experiment.

    Raises:
        ValueError: If there is no objective, or a weighted sum of metrics is one, or must keep a bound.
    """
    if (config := experiment.optimization_config) is None:
        raise ValueError("the experiment must have an objective, got none; configure_optimization first")
    objective = config.objective
    if objective.is_scalarized_objective or objective.expression.count(",") + 1 < len(objective.metric_names):
        raise ValueError(f"each objective must be one metric, got {objective.expression!r}; make the sum a metric")
    weights = dict(zip(objective.metric_names, (weight for _, weight in objective.metric_weights), strict=True))
    objectives = tuple((name, _direction(weight)) for name, weight in weights.items())
    return Goals(objectives, tuple(_bounds(config)))


def _direction(weight: float) -> Direction:
    return "maximize" if weight > 0 else "minimize"


def _bounds(config: Any) -> Iterator[Bound]:
    for constraint in config.all_constraints:
        text = constraint.expression
        if len(constraint.metric_names) != 1:
            raise ValueError(f"each outcome constraint must be on one metric, got {text!r}; make the sum a metric")
        (_, weight), is_least = constraint.metric_weights[0], constraint.op.name == "GEQ"
        if constraint.relative and weight != 1:
            raise ValueError(f"a constraint relative to the baseline must have no factor, got {text!r}")
        number = float(constraint.bound) / weight
        yield Bound(constraint.metric_names[0], is_least == (weight > 0), number, bool(constraint.relative))


def metrics_of(experiment: Any) -> tuple[str, ...]:
    """The metrics of all objectives and outcome constraints, each once.

    Raises:
        ValueError: If there is no objective.
    """
    if (config := experiment.optimization_config) is None:
        raise ValueError("the experiment must have an objective, got none; configure_optimization first")
    bounded = (name for constraint in config.all_constraints for name in constraint.metric_names)
    return tuple(dict.fromkeys([*config.objective.metric_names, *bounded]))


def find_goals(experiment: Any) -> Goals:
    """Objectives and outcome constraints of an experiment, if we can have them; else none."""
    try:
        return goals_of(experiment)
    except ValueError:
        return Goals((), ())
