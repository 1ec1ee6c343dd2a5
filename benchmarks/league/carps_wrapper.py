"""Our optimizer in CARP-S, the field's harness of many optimizers on many benchmarks (`carps` 1.1.0).

In a CARP-S configuration: `optimizer: {_target_: benchmarks.league.carps_wrapper.RobustboOptimizer, seed: ${seed}}`. A
task must have one objective, which CARP-S minimizes, and no levels of fidelity. Conditions of ConfigSpace are ours;
forbidden clauses are refused. A crash, a timeout and memory that ran out are failed trials.

References:
    Benjamins et al. (2025), carps: a framework for comparing N hyperparameter optimizers on M benchmarks.
"""

from collections.abc import Iterable
from typing import Any

from carps.optimizers.optimizer import Optimizer as CarpsOptimizer
from carps.utils.trials import StatusType, TrialInfo, TrialValue
from ConfigSpace import Configuration, ConfigurationSpace
from ConfigSpace.conditions import AndConjunction, EqualsCondition, InCondition

from robustbo.optimizer import Optimizer
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.space import Space


class RobustboOptimizer(CarpsOptimizer):
    """An optimizer of CARP-S.

    Args:
        task: Of CARP-S.
        loggers: Of CARP-S.
        seed: Root of all randomness.
        surrogate: As for `robustbo.Optimizer`.
        rest: What CARP-S' own optimizers take besides.

    Raises:
        NotImplementedError: If the task has forbidden clauses, several objectives, or a kind of parameter that is not
            ours.
    """

    def __init__(self, task: Any, loggers: Any = None, seed: int = 0, surrogate: Any = "auto", **rest: Any) -> None:
        super().__init__(task, loggers, **rest)
        if task.output_space.n_objectives != 1:
            raise NotImplementedError(f"a task must have one objective, got {task.output_space.n_objectives}")
        self._configurations = task.objective_function.configspace
        self._space = self.convert_configspace(self._configurations)
        self._seed, self._surrogate = seed, surrogate

    def _setup_optimizer(self) -> Optimizer:
        return Optimizer(self._space, direction="minimize", surrogate=self._surrogate, seed=self._seed)

    def convert_configspace(self, configspace: ConfigurationSpace) -> Space:
        """The space as ours."""
        if configspace.forbidden_clauses:
            raise NotImplementedError("forbidden clauses; say them as constraints of a robustbo.Space")
        when: dict[str, dict[str, list[Any]]] = {}
        for condition in _single_conditions(configspace.conditions):
            allowed = condition.values if isinstance(condition, InCondition) else [condition.value]
            when.setdefault(condition.child.name, {})[condition.parent.name] = list(allowed)
        return Space(**{name: _parameter(p, when.get(name)) for name, p in dict(configspace).items()})

    def convert_to_trial(self, trial: Any) -> TrialInfo:  # type: ignore[override]
        """A trial of ours as CARP-S has it, by its number."""
        configuration = Configuration(self._configurations, values=dict(trial.params))
        return TrialInfo(config=configuration, seed=self._seed, name=str(trial.number))

    def ask(self) -> TrialInfo:
        """The next trial."""
        return self.convert_to_trial(self.solver.ask())

    def tell(self, trial_info: TrialInfo, trial_value: TrialValue) -> None:
        """Take what was measured."""
        trial = self.solver.history[int(trial_info.name or 0)]
        if trial_value.status == StatusType.SUCCESS:
            self.solver.tell(trial, float(trial_value.cost))  # type: ignore[arg-type]
        else:
            self.solver.fail(trial, trial_value.status.name)

    def get_current_incumbent(self) -> tuple[TrialInfo, TrialValue] | None:
        """The trial that is believed to be best, and its measured value; None before anything is measured."""
        if not self.solver.history.having("told"):
            return None
        trial = self.solver.best().trial
        return self.convert_to_trial(trial), TrialValue(cost=float(trial.value))


def _single_conditions(conditions: Iterable[Any]) -> list[Any]:
    single = []
    for condition in conditions:
        parts = condition.components if isinstance(condition, AndConjunction) else [condition]
        if not all(isinstance(part, EqualsCondition | InCondition) for part in parts):
            raise NotImplementedError(f"a condition must be of values that another parameter has, got {condition}")
        single += parts
    return single


def _parameter(hyperparameter: Any, when: Any) -> Any:
    """A hyperparameter as ours, by its attributes."""
    if hasattr(hyperparameter, "lower"):
        of = Int if isinstance(hyperparameter.lower, int) or "Integer" in type(hyperparameter).__name__ else Float
        return of(hyperparameter.lower, hyperparameter.upper, log=bool(hyperparameter.log), when=when)
    if hasattr(hyperparameter, "sequence"):
        numbers = all(isinstance(value, int | float) for value in hyperparameter.sequence)
        return (Ordinal if numbers else Choice)(*hyperparameter.sequence, when=when)
    values = hyperparameter.choices if hasattr(hyperparameter, "choices") else [hyperparameter.value]
    return Choice(*(value.item() if hasattr(value, "item") else value for value in values), when=when)
