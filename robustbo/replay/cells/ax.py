"""A cell whose trials Ax proposes: its default strategy, or ours inside it. Imported only where such a cell is run.

A recommendation is asked for after the last trial alone, since Ax cross-validates for it.
"""

from typing import Any

from ax.adapter.registry import MBM_X_trans, Y_trans
from ax.adapter.transforms.add_execution_viability import EXECUTION_VIABLE_METRIC_NAME, AddExecutionViability
from ax.core.metric import Metric

from robustbo import seeds
from robustbo.ax import best, client_for, complete, generation_strategy, outliers
from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import FAILED, OptimizationCell
from robustbo.replay.cells.peer import Proposal

METRIC = "value"


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, Ax)


class Ax:
    """Ax's client for a cell's problem, with the strategy of its method."""

    def __init__(self, cell: OptimizationCell) -> None:
        self._cell, self._is_ours = cell, cell.how.engine == "ax"
        self._client = client_of(cell)

    def ask(self, number: int) -> Proposal:
        """Ax's point; one drawn uniformly where its generation fails, as it may when nothing was ever measured."""
        try:
            ((index, params),) = self._client.get_next_trials(max_trials=1).items()
            return Proposal(index, params, "ax")
        except Exception:  # of Ax, BoTorch or PyTorch: it is theirs, and as many kinds as there are causes
            space = self._cell.spec.load_problem().space
            drawn = seeds.generator(self._cell.root, number, "no generation").random(len(space))
            params = space.from_unit(drawn.tolist())
            return Proposal(self._client.attach_trial(params), params, "random")

    def tell(self, handle: int, value: float) -> None:
        """Complete a trial."""
        complete(self._client, handle, {METRIC: value})

    def fail(self, handle: int) -> None:
        """Mark a trial as what the strategy learns most from: Ax's transform looks at abandoned ones alone."""
        if self._cell.how.engine == "ax-viability":
            self._client.mark_trial_abandoned(handle)
        else:
            self._client.mark_trial_failed(handle, failed_reason=FAILED)

    def recommended(self, is_last: bool) -> int | None:
        """The trial that Ax recommends, or that we do where the strategy is ours; None where it finds none."""
        if not is_last or not self._client._experiment.completed_trials:
            return None
        if self._is_ours:
            return best(self._client).trial_index
        try:
            return self._client.get_best_parameterization()[2]
        except Exception:  # where nothing is feasible by Ax's model
            return None

    def flagged(self) -> list[int]:
        """The trials whose values look wrong, where the strategy is ours."""
        if not self._is_ours:
            return []
        report = outliers(self._client)
        return sorted(int(index) for index in report["trial_index"][report["flagged"]])


def client_of(cell: OptimizationCell) -> Any:
    """A client for a cell's problem, with the strategy of its method."""
    problem, method, seed = cell.spec.load_problem(), cell.how, cell.root % 2**31
    client = client_for(problem.space, problem.direction, METRIC, seed=seed)
    if method.engine == "ax":
        ours = generation_strategy(
            method.surrogate, method.options, cell.spec.num_initial, seed, cell.settings.failures
        )
        client.set_generation_strategy(ours)
        return client
    client.configure_generation_strategy(initialization_budget=cell.spec.num_initial, initialization_random_seed=seed)
    if method.engine == "ax-viability":
        _learn_viability(client)
    return client


def _learn_viability(client: Any) -> None:
    """Add Ax's transform, and the metric that it models but does not declare, to its default strategy.

    The transform comes first, since it adds the abandoned points as they were asked, before any are transformed.
    """
    client._experiment.add_tracking_metric(Metric(EXECUTION_VIABLE_METRIC_NAME, lower_is_better=False))
    (node,) = (each for each in client._generation_strategy._nodes if each.name == "MBM")
    node.generator_specs[0].generator_kwargs["transforms"] = [AddExecutionViability, *MBM_X_trans, *Y_trans]
