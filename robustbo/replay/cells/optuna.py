"""A cell whose trials Optuna proposes. Imported only where such a cell is run.

In a restricted space (see `robustbo.replay.cells.peer_space`) its samplers are told how far each trial was beyond each
constraint, by ``constraints_func``. A suggestion beyond one costs no trial: it is completed with the median of the
values told so far, which speaks neither for it nor against it (an infeasible trial must have some value), and the
sampler is asked again, up to `TRIES` times. Parameters that exist only under conditions are suggested there alone
(define by run); of these GPSampler models only what all trials have, and draws the others, as it comes. Numbers in a
pool are whole numbers to Optuna, their ranks. Where a pool's rows lie scattered a suggestion fails, of which a sampler
learns nothing, and the trial is that of the nearest row.
"""

from statistics import median
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState

from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.peer import Proposal
from robustbo.replay.cells.peer_space import Params, PeerSpace, PeerSuggestion, is_restricted
from robustbo.searchspace.parameters import Choice, Int, Ordinal, Parameter

TRIES = 50  # suggestions for a trial
EXCESS = "excess"  # how far a trial is beyond each constraint


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, RestrictedOptuna if is_restricted(cell.settings.space) else Optuna)


class Optuna:
    """A study of a cell's problem, with the sampler of its method."""

    def __init__(self, cell: OptimizationCell) -> None:
        problem = cell.spec.load_problem()
        self._study = optuna.create_study(sampler=sampler(cell), direction=problem.direction)
        self._space = {name: distribution(parameter) for name, parameter in problem.space.parameters}

    def ask(self, number: int) -> Proposal:
        """The sampler's point; the study counts trials as we do."""
        trial = self._study.ask(self._space)
        return Proposal(trial, dict(trial.params), "optuna")

    def tell(self, handle: Any, value: float) -> None:
        """Complete a trial."""
        self._study.tell(handle, value)

    def fail(self, handle: Any) -> None:
        """Mark a trial as failed, of which a sampler learns nothing."""
        self._study.tell(handle, state=TrialState.FAIL)

    def recommendation(self, is_last: bool) -> int | None:
        """The trial with the best value, None where no value is known."""
        if not self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            return None
        return self._study.best_trial.number

    def flags(self) -> list[int]:
        """Optuna calls no value wrong."""
        return []


class RestrictedOptuna:
    """Optuna in a space where not every row of values is a point."""

    def __init__(self, cell: OptimizationCell) -> None:
        problem = cell.spec.load_problem()
        self._cell, self._peer_space = cell, PeerSpace(problem.space)
        rules = {"constraints_func": lambda trial: trial.user_attrs[EXCESS]} if self._peer_space.linear else {}
        self._study = optuna.create_study(sampler=sampler(cell, **rules), direction=problem.direction)
        self._told: dict[int, float] = {}  # values by our number of the trial
        self._numbers: dict[int, int] = {}  # that number by Optuna's

    def ask(self, number: int) -> Proposal:
        """The first suggestion that keeps the constraints; one of the initial points, or one drawn."""
        if number < self._cell.spec.num_initial:
            return self._attach(self._peer_space.first(self._cell.root, number), number, "sobol")
        if self._peer_space.rows is not None:
            trial, _ = self._suggest()
            self._study.tell(trial, state=TrialState.FAIL)
            return self._attach(self._peer_space.rows.nearest(trial.params), number, "optuna")
        for _ in range(TRIES):
            trial, (point, _) = self._suggest()
            if point is not None:
                self._numbers[trial.number] = number
                return Proposal(trial, point, "optuna")
            self._study.tell(trial, median(self._told.values()) if self._told else 0.0)
        return self._attach(self._peer_space.draw(self._cell.root, number), number, "random")

    def _attach(self, point: Params, number: int, origin: str) -> Proposal:
        if self._peer_space.rows is not None:
            self._peer_space.rows.take(point)
        ranks = {
            name: _rank(self._peer_space.parameters[name], value) for name, value in self._peer_space.own(point).items()
        }
        self._study.enqueue_trial(ranks)
        trial, _ = self._suggest()
        self._numbers[trial.number] = number
        return Proposal(trial, point, origin)

    def _suggest(self) -> tuple[Any, PeerSuggestion]:
        trial: Any = self._study.ask()
        params: dict[str, Any] = {}
        while True:
            present = self._peer_space.space.existing(params)
            new = [name for name in self._peer_space.parameters if name in present and name not in params]
            if not new:
                break
            for name in new:
                parameter = self._peer_space.parameters[name]
                value = trial._suggest(name, rank_distribution(parameter))
                params[name] = parameter.values[value] if isinstance(parameter, Ordinal) else value
        suggestion = self._peer_space.complete(params)
        trial.set_user_attr(EXCESS, suggestion.excess)
        return trial, suggestion

    def tell(self, handle: Any, value: float) -> None:
        """Complete a trial."""
        self._told[self._numbers[handle.number]] = value
        self._study.tell(handle, value)

    def fail(self, handle: Any) -> None:
        """Mark a trial as failed."""
        self._study.tell(handle, state=TrialState.FAIL)

    def recommendation(self, is_last: bool) -> int | None:
        """The trial with the best value told."""
        sign = -1 if self._cell.settings.direction == "maximize" else 1
        return min(self._told, key=lambda number: sign * self._told[number], default=None)

    def flags(self) -> list[int]:
        """Optuna calls no value wrong."""
        return []


def rank_distribution(parameter: Parameter) -> BaseDistribution:
    """Optuna's distribution of a parameter; of ordered values, that of their ranks."""
    return IntDistribution(0, len(parameter.values) - 1) if isinstance(parameter, Ordinal) else distribution(parameter)


def _rank(parameter: Parameter, value: Any) -> Any:
    return parameter.values.index(value) if isinstance(parameter, Ordinal) else value


def sampler(cell: OptimizationCell, **rules: Any) -> BaseSampler:
    """The sampler of a cell's method, which begins with as many random trials as all others."""
    seed, initial = cell.root % 2**31, cell.spec.num_initial
    if cell.how.engine == "optuna-tpe":
        return TPESampler(seed=seed, n_startup_trials=initial, **rules)
    return GPSampler(seed=seed, n_startup_trials=initial, deterministic_objective=False, **rules)


def distribution(parameter: Parameter) -> BaseDistribution:
    """Optuna's distribution of a parameter."""
    if isinstance(parameter, Choice | Ordinal):
        return CategoricalDistribution(parameter.values)
    if isinstance(parameter, Int):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step or 1)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
