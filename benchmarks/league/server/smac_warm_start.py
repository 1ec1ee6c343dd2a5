"""SMAC's warm start: a facade that is told the values of an old study as its own, as its guide to warm starts says.

Its black-box facade (a Gaussian process); all parameters are numbers between 0 and 1. It recommends the best measured
point.
"""

import tempfile
from pathlib import Path
from typing import Any

from ConfigSpace import Configuration, ConfigurationSpace, Float
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from benchmarks.league.server.base import Base, Point

MANY = 10_000  # trials, so that it never ends by itself


class Peer(Base):
    """A facade that has been told the old study's values."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        box = [Float(name, (0.0, 1.0)) for name in self.space]
        self._configurations = ConfigurationSpace(space=box, seed=self.seed)
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        scenario = Scenario(
            self._configurations, deterministic=True, n_trials=MANY, seed=self.seed, output_directory=folder
        )
        points, costs = self.old_study
        first = [Configuration(self._configurations, point) for point in points[:1]]
        begin = BlackBoxFacade.get_initial_design(scenario, n_configs=0, additional_configs=first)
        self._facade = BlackBoxFacade(
            scenario, lambda config, seed=0: 0.0, initial_design=begin, overwrite=True, logging_level=False
        )
        self._pending: TrialInfo | None = None
        for point, cost in zip(points, costs, strict=True):
            self._add(point, cost)

    def ask(self) -> Point:
        """The facade's configuration."""
        self._pending = self._facade.ask()
        return {name: float(self._pending.config[name]) for name in self.space}

    def tell(self, point: Point, value: float | None) -> None:
        """Tell a value."""
        super().tell(point, value)
        cost = self.worst if value is None else self.sign * value
        if self._pending is None:
            self._add(point, cost)
        else:
            self._facade.tell(self._pending, TrialValue(cost=cost))
        self._pending = None

    def _add(self, point: Point, cost: float) -> None:
        self._facade.tell(TrialInfo(Configuration(self._configurations, point), seed=0), TrialValue(cost=cost))
