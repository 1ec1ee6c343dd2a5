"""BayBE's task parameter: a campaign that begins with the values of an old study, as those of another task.

It has a `TaskParameter` with two values, of which the target's is active, and BayBE's defaults otherwise. All other
parameters are numbers between 0 and 1. It recommends the measured point of the best posterior mean.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch
from baybe import Campaign
from baybe.objectives import SingleTargetObjective
from baybe.parameters import NumericalContinuousParameter, TaskParameter
from baybe.recommenders import BotorchRecommender
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from benchmarks.league.server.base import Base, Point


class Peer(Base):
    """A campaign that has the old study's values as those of another task."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        box = [NumericalContinuousParameter(name=name, bounds=(0, 1)) for name in self.space]
        task = TaskParameter(name="task", values=["lab", "old"], active_values=["lab"])
        self._campaign = Campaign(
            SearchSpace.from_product([*box, task]),
            SingleTargetObjective(NumericalTarget(name="y", minimize=True)),
            BotorchRecommender(),
        )
        points, costs = self.old_study
        self._campaign.add_measurements(self._frame(points, "old").assign(y=costs))

    def ask(self) -> Point:
        """The campaign's point."""
        torch.manual_seed(self.seed + len(self.trials))
        row = self._campaign.recommend(1).iloc[0]
        return {name: float(row[name]) for name in self.space}

    def tell(self, point: Point, value: float | None) -> None:
        """Add a measurement."""
        super().tell(point, value)
        cost = self.worst if value is None else self.sign * value
        self._campaign.add_measurements(self._frame([point], "lab").assign(y=[cost]))

    def recommend(self) -> Point:
        """The point of the lowest posterior mean."""
        points = [point for point, _ in self.trials]
        means = self._campaign.posterior_stats(self._frame(points, "lab"), stats=["mean"])["y_mean"]
        return points[int(means.to_numpy().argmin())]

    def _frame(self, points: Sequence[Point], task: str) -> pd.DataFrame:
        return pd.DataFrame(points, columns=list(self.space)).assign(task=task)
