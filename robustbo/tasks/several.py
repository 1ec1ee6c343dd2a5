"""Problems of several outcomes: objectives in conflict, or one under constraints that are measured; and their strikes.

A strike is what a corruption does to the outcomes of a trial at once: it hits one of them, or all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch

from robustbo.numerics.improvement.front import hypervolume
from robustbo.tasks.corruption import REPEATS, SOURCES, STICKS, Corruption, RandomPoint, build
from robustbo.tasks.problem import Problem
from robustbo.validation import one_of

ALL = "all"  # outcomes are hit
Values = dict[str, float]  # of outcomes, by name


@dataclass(frozen=True)
class SeveralProblem(Problem):
    """A clean, deterministic problem of several outcomes; as a problem of one it is that of its first objective.

    Attributes:
        outcomes: From a point's parameters to the values of all outcomes, by name; the objectives first.
        objectives: Which of them are to be optimized, and the direction of each.
        outcome_constraints: What others must keep, such as "slack >= 0".
        keeps: Whether clean values keep them.
        reference_point: By objective, from where hypervolume counts; empty where there is one objective.
        hypervolume: The largest there is, of several objectives; None where it is not known.
        worst: The largest loss, as a value of the one objective: what a point that breaks a constraint counts as.
    """

    outcomes: Callable[[Mapping[str, Any]], Mapping[str, float]] = field(kw_only=True)
    objectives: Mapping[str, Literal["minimize", "maximize"]] = field(kw_only=True)
    outcome_constraints: tuple[str, ...] = ()
    keeps: Callable[[Mapping[str, float]], bool] = field(kw_only=True, default=lambda values: True)
    reference_point: Mapping[str, float] = field(default_factory=dict)
    hypervolume: float | None = None
    worst: float | None = None

    @property
    def best(self) -> tuple[str, float] | None:
        """The largest hypervolume, or of one objective the optimum; None where it is not known."""
        if len(self.objectives) == 1:
            return super().best
        return None if self.hypervolume is None else ("largest hypervolume", self.hypervolume)

    @property
    def goal(self) -> str:
        """The goal in words."""
        ways = [f"{way} {name}" for name, way in self.objectives.items()]
        return ", ".join([*ways, *self.outcome_constraints])

    @property
    def maximizes(self) -> bool:
        """Return whether more worth is better: more hypervolume always is."""
        return len(self.objectives) > 1 or super().maximizes

    def truth(self, params: Mapping[str, Any]) -> Values:
        """The clean values of all outcomes at a point.

        Raises:
            SpaceError: If it is no point of the space.
            ProblemError: If a value is not finite.
        """
        return {name: self.finite(value, params) for name, value in self.outcomes(self.space.validate(params)).items()}

    def worth(self, truths: Sequence[Values]) -> float:
        """The quality of a recommendation, by clean values at its points; those that break a constraint do not count.

        Of several objectives it is the hypervolume; of one the best value, or the worst there is where none counts.
        """
        signs = {name: 1.0 if way == "maximize" else -1.0 for name, way in self.objectives.items()}
        feasible = [[sign * values[name] for name, sign in signs.items()] for values in truths if self.keeps(values)]
        if len(signs) > 1:
            reference = [sign * self.reference_point[name] for name, sign in signs.items()]
            Y = torch.tensor(feasible, dtype=torch.float64).reshape(-1, len(signs))
            return hypervolume(Y, torch.tensor(reference, dtype=torch.float64))
        (sign,) = signs.values()
        if not feasible:
            return math.nan if self.worst is None else self.worst
        return sign * max(feasible)[0]

    @property
    def names(self) -> list[str]:
        """The outcomes in order."""
        middle = self.space.from_unit([0.5] * len(self.space))
        return list(self.outcomes(middle))

    def of(self, name: str) -> Problem:
        """The problem of one outcome alone."""
        direction = self.objectives.get(name, "maximize")
        objective = partial(_outcome_value, self.outcomes, name)
        return Problem(f"{self.name}'s {name}", self.space, direction, objective, cost_s=self.cost_s)


def _outcome_value(
    outcomes: Callable[[Mapping[str, Any]], Mapping[str, float]], name: str, params: Mapping[str, Any]
) -> float:
    return outcomes(params)[name]


@dataclass(frozen=True)
class OutcomeCorruption:
    """The corruption of a trial's outcomes: a first draw decides whether, then each one hit gets a wrong value.

    Which trials are hit, and what would be measured there of each outcome, does not depend on which outcomes are: a run
    that strikes one and a run that strikes all have the same wrong values of that one.

    Attributes:
        by_outcome: The corruption of each outcome, in order; the first decides.
        hit: The outcomes that are hit.
    """

    by_outcome: Mapping[str, Corruption]
    hit: frozenset[str]

    def apply(self, values: Values, x: Mapping[str, Any], generator: np.random.Generator) -> tuple[Values, list[str]]:
        """The values as measured at a point, without those that are missing; and which of them are wrong.

        The point of a "random-point" is one for all outcomes; any other draws are an outcome's own.
        """
        first = next(iter(self.by_outcome))
        first_value, is_wrong = self.by_outcome[first].apply(values[first], x, generator)
        if not is_wrong and math.isfinite(first_value):
            return values, []
        root = int(generator.integers(2**63))
        measured: Values = {}
        for i, (name, value) in enumerate(values.items()):
            if name not in self.hit:
                measured[name] = value
                continue
            always: Any = replace(self.by_outcome[name], probability=1.0)  # type: ignore[type-var]  # all have one
            own = np.random.default_rng([root, 0 if isinstance(always, RandomPoint) else i])
            wrong, _ = always.apply(value, x, own)
            if math.isfinite(wrong):
                measured[name] = wrong
        return measured, [name for name in values if name in self.hit and name in measured]


def build_outcome_corruption(problem: SeveralProblem, kind: str, hits: str = ALL, **options: Any) -> OutcomeCorruption:
    """A corruption of several outcomes.

    Args:
        problem: Whose values are corrupted.
        kind: As for `robustbo.tasks.corruption.build`, except for a problem's own failures, repeats, and sticks.
        hits: The outcome that is hit, or "all".
        options: As there; one that is a table has a value for each outcome by name.

    Raises:
        ValueError: If there is no such kind or outcome, or an option does not go.
    """
    names = problem.names
    one_of("strikes", hits, [ALL, *names])
    if kind in (REPEATS, STICKS, *SOURCES):
        raise ValueError(f"{problem.name} has several outcomes, whose corruption can be no {kind!r}")
    for key, value in options.items():
        if isinstance(value, Mapping) and sorted(value) != sorted(names):
            raise ValueError(f"{key} must have a value for each outcome {names}, got {sorted(value)}")
    by_outcome = {name: build(kind, problem.of(name), **_options(options, name)) for name in names}
    return OutcomeCorruption(by_outcome, frozenset(names if hits == ALL else [hits]))


def _options(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value[name] if isinstance(value, Mapping) else value for key, value in options.items()}
