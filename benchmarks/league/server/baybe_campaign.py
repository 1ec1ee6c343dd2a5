"""BayBE's campaign with its default recommender: a random point, then Bayesian optimization.

Numbers are told by their unit coordinates, since BayBE's have no logarithmic scale; integers and ordered lists are
discrete parameters of ranks. Linear constraints are told where all parameters are numbers. A trial that failed has the
worst value so far. It recommends the best measured point: a campaign names none.
"""

from typing import Any

import pandas as pd
import torch
from baybe import Campaign
from baybe.constraints import ContinuousLinearConstraint
from baybe.parameters import CategoricalParameter, NumericalContinuousParameter, NumericalDiscreteParameter
from baybe.searchspace import SearchSpace
from baybe.settings import Settings
from baybe.targets import NumericalTarget

from benchmarks.league.server import unit
from benchmarks.league.server.base import Base, Point

TARGET = "cost"
MOST_ROWS = 100_000  # of the table of all discrete points, which BayBE makes
MOST_MIXED = 100  # where there are numbers too: the acquisition is maximized in each row apart


class Peer(Base):
    """A campaign."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        rows = 1
        for parameter in self.space.values():
            rows *= 1 if unit.is_number(parameter) else len(unit.values_of(parameter))
        is_mixed = any(unit.is_number(parameter) for parameter in self.space.values())
        if rows > (MOST_MIXED if is_mixed else MOST_ROWS):
            raise NotImplementedError(f"its table of discrete points has {rows} rows, too many for its default")
        Settings(random_seed=self.seed).activate()
        bounds, inequalities = unit.bounds(self.space, self.constraints)
        constraints = [
            ContinuousLinearConstraint(list(row), "<=", list(row.values()), bound) for row, bound in inequalities
        ]
        parameters = [_parameter(name, p, bounds.get(name)) for name, p in self.space.items()]
        searchspace = SearchSpace.from_product(parameters, constraints or None)
        self._campaign = Campaign(searchspace, NumericalTarget(TARGET, minimize=True).to_objective())

    def ask(self) -> Point:
        """The campaign's point."""
        return unit.decode(self.space, self._campaign.recommend(1).iloc[0])

    def tell(self, point: Point, value: float | None) -> None:
        """Add a measurement."""
        super().tell(point, value)
        cost = self.worst if value is None else self.sign * value
        self._campaign.add_measurements(pd.DataFrame([unit.encode(self.space, point) | {TARGET: cost}]))


def _parameter(name: str, parameter: dict[str, Any], bounds: tuple[float, float] | None) -> Any:
    if bounds is not None:
        return NumericalContinuousParameter(name, bounds)
    values = unit.values_of(parameter)
    if unit.is_ordered(parameter):
        return NumericalDiscreteParameter(name, [float(rank) for rank in range(len(values))])
    return CategoricalParameter(name, [unit.word(rank) for rank in range(len(values))])
