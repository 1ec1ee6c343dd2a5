"""A cell of several outcomes whose trials Ax proposes: objectives, thresholds and outcome constraints by its client.

What it recommends is its Pareto frontier, or its best parameterization, at their own defaults.
"""

from typing import Any

from robustbo import seeds
from robustbo.ax import client_for, complete
from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import FAILED
from robustbo.replay.cells.peer import Proposal
from robustbo.replay.cells.recommendation import Recommended


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, SeveralAx)


class SeveralAx:
    """Ax's client for a cell's problem, with its own strategy."""

    def __init__(self, cell: OptimizationCell) -> None:
        self._cell, settings, seed = cell, cell.settings, cell.root % 2**31
        self._count = len(settings.outcomes)
        self._has_front = len(settings.objectives) > 1
        self._client = client_for(settings.space, settings.direction, settings.outcomes[0].name, seed=seed)
        ways = dict(settings.objectives)
        reference = [f"{n} {'>=' if ways[n] == 'maximize' else '<='} {v!r}" for n, v in settings.reference_point]
        self._client.configure_optimization(
            objective=", ".join(name if way == "maximize" else f"-{name}" for name, way in ways.items()),
            outcome_constraints=[*settings.outcome_constraints, *reference] or None,
        )
        self._client.configure_generation_strategy(
            initialization_budget=cell.spec.num_initial, initialization_random_seed=seed
        )

    def ask(self, number: int) -> Proposal:
        """Ax's point; one drawn uniformly where its generation fails."""
        try:
            ((index, params),) = self._client.get_next_trials(max_trials=1).items()
            return Proposal(index, params, "ax")
        except Exception:  # of Ax, BoTorch or PyTorch: it is theirs, and as many kinds as there are causes
            space = self._cell.settings.space
            unit_point = seeds.generator(self._cell.root, number, "no generation").random(len(space))
            params = space.from_unit(unit_point.tolist())
            return Proposal(self._client.attach_trial(params), params, "random")

    def tell(self, handle: int, value: dict[str, float]) -> None:
        """Complete a trial; one of which an outcome is missing has failed."""
        if len(value) < self._count:
            self.fail(handle)
        else:
            complete(self._client, handle, value)

    def fail(self, handle: int) -> None:
        """Mark a trial as failed."""
        self._client.mark_trial_failed(handle, failed_reason=FAILED)

    def recommendation(self, is_last: bool) -> Recommended:
        """The trials of Ax's frontier, or its best; none where it finds none."""
        client: Any = self._client
        try:
            if self._has_front:
                return sorted({int(index) for _, _, index, _ in client.get_pareto_frontier()})
            return [int(client.get_best_parameterization()[2])]
        except Exception:  # where nothing is feasible by Ax's model
            return []

    def flags(self) -> list[int]:
        """Ax calls no value wrong."""
        return []
