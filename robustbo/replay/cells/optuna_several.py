"""A cell of several outcomes whose trials Optuna proposes, with constraints by `Trial.set_constraint`."""

from typing import Any

import optuna
from optuna.trial import TrialState

from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.optuna import distribution, sampler
from robustbo.replay.cells.peer import Proposal
from robustbo.replay.cells.recommendation import Recommended


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, SeveralOptuna)


class SeveralOptuna:
    """A study of a cell's problem, with the sampler of its method."""

    def __init__(self, cell: OptimizationCell) -> None:
        problem = cell.spec.load_problem()
        self._objectives = dict(cell.settings.objectives)
        self._wanted = cell.settings.outcomes
        self._study = optuna.create_study(sampler=sampler(cell), directions=list(self._objectives.values()))
        self._space = {name: distribution(parameter) for name, parameter in problem.space.parameters}

    def ask(self, number: int) -> Proposal:
        """The sampler's point; the study counts trials as we do."""
        trial = self._study.ask(self._space)
        return Proposal(trial, dict(trial.params), "optuna")

    def tell(self, handle: Any, value: dict[str, float]) -> None:
        """Complete a trial; one of which an outcome is missing has failed."""
        if len(value) < len(self._wanted):
            self.fail(handle)
            return
        for outcome in self._wanted:
            for side, excess in (
                ("low", outcome.low - value[outcome.name]),
                ("high", value[outcome.name] - outcome.high),
            ):
                if excess > -float("inf"):
                    handle.set_constraint(f"{outcome.name} {side}", excess)
        self._study.tell(handle, [value[name] for name in self._objectives])

    def fail(self, handle: Any) -> None:
        """Mark a trial as failed, of which a sampler learns nothing."""
        self._study.tell(handle, state=TrialState.FAIL)

    def recommendation(self, is_last: bool) -> Recommended:
        """The trials whose values keep the constraints and are beaten by no other's; none where there is none."""
        return sorted(trial.number for trial in self._study.best_trials)

    def flags(self) -> list[int]:
        """Optuna calls no value wrong."""
        return []
