"""A cell whose trials Optuna proposes. Imported only where such a cell is run."""

from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState

from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.peer import Proposal
from robustbo.searchspace.parameters import Choice, Int, Ordinal, Parameter


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, Optuna)


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

    def recommended(self, is_last: bool) -> int | None:
        """The trial with the best value, None where no value is known."""
        if not self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            return None
        return self._study.best_trial.number

    def flagged(self) -> list[int]:
        """Optuna calls no value wrong."""
        return []


def sampler(cell: OptimizationCell) -> BaseSampler:
    """The sampler of a cell's method, which begins with as many random trials as all others."""
    seed, initial = cell.root % 2**31, cell.spec.num_initial
    if cell.how.engine == "optuna-tpe":
        return TPESampler(seed=seed, n_startup_trials=initial)
    return GPSampler(seed=seed, n_startup_trials=initial, deterministic_objective=False)


def distribution(parameter: Parameter) -> BaseDistribution:
    """What Optuna calls a parameter."""
    if isinstance(parameter, Choice | Ordinal):
        return CategoricalDistribution(parameter.values)
    if isinstance(parameter, Int):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step or 1)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
