"""A cell whose trials Ax proposes: its default strategy, or ours inside it. Imported only where such a cell is run.

A recommendation is asked for after the last trial alone, since Ax cross-validates for it.

In a restricted space (see `robustbo.replay.cells.peer_space`) Ax has linear inequalities as parameter constraints.
The others are metrics with outcome constraints. A suggestion beyond one costs no trial: it is completed with the
metrics of the constraints and without a value, so that Ax's models of the constraints learn of it, and Ax is asked
again, up to `TRIES` times. Parameters that exist only under conditions always exist for Ax, which is told nothing of
where they do not. Numbers in a pool are ordered choices. Where a pool's rows lie scattered a suggestion fails, of which
its models learn nothing, and the trial is that of the nearest row.
"""

from typing import Any

from ax.adapter.registry import MBM_X_trans, Y_trans
from ax.adapter.transforms.add_execution_viability import EXECUTION_VIABLE_METRIC_NAME, AddExecutionViability
from ax.core.metric import Metric
from ax.core.parameter_constraint import ParameterConstraint

from robustbo import seeds
from robustbo.ax import best, client_for, complete, generation_strategy, outliers
from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import FAILED
from robustbo.replay.cells.peer import Proposal
from robustbo.replay.cells.peer_space import Linear, Params, PeerSpace, is_restricted
from robustbo.searchspace.space import Space

METRIC = "value"
TRIES = 5  # suggestions for a trial, of a second each and more


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, RestrictedAx if is_restricted(cell.settings.space) else Ax)


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
            unit_point = seeds.generator(self._cell.root, number, "no generation").random(len(space))
            params = space.from_unit(unit_point.tolist())
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

    def recommendation(self, is_last: bool) -> int | None:
        """The trial that Ax recommends, or that we do where the strategy is ours; None where it finds none."""
        if not is_last or not self._client._experiment.completed_trials:
            return None
        if self._is_ours:
            return best(self._client).trial_index
        try:
            return self._client.get_best_parameterization()[2]
        except Exception:  # where nothing is feasible by Ax's model
            return None

    def flags(self) -> list[int]:
        """The trials whose values look wrong, where the strategy is ours."""
        if not self._is_ours:
            return []
        report = outliers(self._client)
        return sorted(int(index) for index in report["trial_index"][report["flagged"]])


class RestrictedAx:
    """Ax's own strategy in a space where not every row of values is a point."""

    def __init__(self, cell: OptimizationCell) -> None:
        problem, seed = cell.spec.load_problem(), cell.root % 2**31
        self._cell, self._peer_space = cell, PeerSpace(problem.space)
        self._outcomes = [
            f"constraint_{i}" for i, constraint in enumerate(self._peer_space.linear) if constraint is None
        ]
        self._numbers: dict[int, int] = {}  # of our trials, by Ax's index
        self._excess: dict[int, dict[str, float]] = {}
        self._told: dict[int, float] = {}  # values by our number of the trial
        always = {name: dict(p.to_dict(), when=None) for name, p in self._peer_space.parameters.items()}
        self._client = client_for(Space.from_dict(always), problem.direction, METRIC, seed=seed)
        linear = [
            ParameterConstraint(inequality=_text(constraint))
            for constraint in self._peer_space.linear
            if constraint is not None
        ]
        self._client._experiment.search_space.add_parameter_constraints(linear)
        self._client.configure_optimization(
            objective=METRIC if problem.direction == "maximize" else f"-{METRIC}",
            outcome_constraints=[f"{name} <= 0" for name in self._outcomes] or None,
        )
        self._client.configure_generation_strategy(
            initialization_budget=cell.spec.num_initial, initialization_random_seed=seed
        )

    def ask(self, number: int) -> Proposal:
        """The first suggestion that keeps the constraints; one of the initial points, or one drawn."""
        if number < self._cell.spec.num_initial:
            return self._attach(self._peer_space.first(self._cell.root, number), number, "sobol")
        for _ in range(TRIES):
            try:
                ((index, params),) = self._client.get_next_trials(max_trials=1).items()
            except Exception:  # as above
                break
            if self._peer_space.rows is not None:
                self._client.mark_trial_failed(index, failed_reason="no row")
                return self._attach(self._peer_space.rows.nearest(params), number, "ax")
            point, excess = self._peer_space.complete(params)
            self._excess[index] = self._metrics(excess)
            if point is not None:
                self._numbers[index] = number
                return Proposal(index, point, "ax")
            if not self._outcomes:
                self._client.mark_trial_abandoned(index)
                continue
            self._client.attach_data(index, self._excess[index])
            self._client._experiment.trials[index].mark_completed()
        return self._attach(self._peer_space.draw(self._cell.root, number), number, "random")

    def _attach(self, point: Params, number: int, origin: str) -> Proposal:
        if self._peer_space.rows is not None:
            self._peer_space.rows.take(point)
        own = self._peer_space.own(point, is_whole=True)
        index = self._client.attach_trial(own)
        self._numbers[index], self._excess[index] = number, self._metrics(self._peer_space.complete(own).excess)
        return Proposal(index, point, origin)

    def _metrics(self, excess: list[float]) -> dict[str, float]:
        named = {f"constraint_{i}": value for i, value in enumerate(excess)}
        return {name: named[name] for name in self._outcomes}

    def tell(self, handle: int, value: float) -> None:
        """Complete a trial."""
        self._told[self._numbers[handle]] = value
        complete(self._client, handle, {METRIC: value} | self._excess[handle])

    def fail(self, handle: int) -> None:
        """Mark a trial as failed."""
        self._client.mark_trial_failed(handle, failed_reason=FAILED)

    def recommendation(self, is_last: bool) -> int | None:
        """The trial that Ax recommends; that of the best value where it cannot tell."""
        if not is_last:
            return None
        sign = -1 if self._cell.settings.direction == "maximize" else 1
        best = min(self._told, key=lambda number: sign * self._told[number], default=None)
        try:
            return self._numbers.get(self._client.get_best_parameterization()[2], best)
        except Exception:  # as above
            return best

    def flags(self) -> list[int]:
        """Ax calls no value wrong."""
        return []


def _text(linear: Linear) -> str:
    coefficients, constant = linear
    return f"{' + '.join(f'{a!r} * {name}' for name, a in coefficients.items())} <= {-constant!r}"


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
    (node,) = (
        generation_node for generation_node in client._generation_strategy._nodes if generation_node.name == "MBM"
    )
    node.generator_specs[0].generator_kwargs["transforms"] = [AddExecutionViability, *MBM_X_trans, *Y_trans]
