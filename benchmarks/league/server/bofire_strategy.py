"""BoFire: random points of its own first, then `SoboStrategy` with its defaults.

Numbers are told by their unit coordinates, since BoFire's have no logarithmic scale; integers and ordered lists are
discrete inputs of ranks. Linear constraints are told. A trial that failed has the worst value so far. It recommends the
best measured point: a strategy names none.
"""

from typing import Any

import bofire.strategies.api as strategies
import pandas as pd
import torch
from bofire.data_models.constraints.api import LinearInequalityConstraint
from bofire.data_models.domain.api import Constraints, Domain, Inputs, Outputs
from bofire.data_models.features.api import CategoricalInput, ContinuousInput, ContinuousOutput, DiscreteInput
from bofire.data_models.objectives.api import MinimizeObjective
from bofire.data_models.strategies.api import RandomStrategy, SoboStrategy

from benchmarks.league.server import unit
from benchmarks.league.server.base import Base, Point, num_initial

OUTPUT = "cost"


class Peer(Base):
    """A strategy."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        bounds, inequalities = unit.bounds(self.space, self.constraints)
        domain = Domain(
            inputs=Inputs(features=[_input(name, p, bounds.get(name)) for name, p in self.space.items()]),
            outputs=Outputs(features=[ContinuousOutput(key=OUTPUT, objective=MinimizeObjective(w=1.0))]),
            constraints=Constraints(
                constraints=[
                    LinearInequalityConstraint(features=list(row), coefficients=list(row.values()), rhs=bound)
                    for row, bound in inequalities
                ]
            ),
        )
        self._random = strategies.map(RandomStrategy(domain=domain, seed=self.seed))
        self._strategy = strategies.map(SoboStrategy(domain=domain, seed=self.seed))
        self._initial = num_initial(len(self.space))

    def ask(self) -> Point:
        """The strategy's point."""
        if len(self.trials) < self._initial or len(self.costs) < 2:
            candidates = self._random.ask(1)
        else:
            rows = [unit.encode(self.space, point) | {OUTPUT: cost} for point, cost in self.costs]
            experiments = pd.DataFrame(rows).assign(**{f"valid_{OUTPUT}": 1})
            self._strategy.tell(experiments, replace=True)
            candidates = self._strategy.ask(1)
        return unit.decode(self.space, candidates.iloc[0])


def _input(name: str, parameter: dict[str, Any], bounds: tuple[float, float] | None) -> Any:
    if bounds is not None:
        return ContinuousInput(key=name, bounds=bounds)
    values = unit.values_of(parameter)
    if unit.is_ordered(parameter):
        return DiscreteInput(key=name, values=[float(rank) for rank in range(len(values))])
    return CategoricalInput(key=name, categories=[unit.word(rank) for rank in range(len(values))])
