"""SMAC's warm start in an environment of its own: `python -m benchmarks.quality.peer_smac`, by `PeerProcess`.

Its black-box facade (a Gaussian process) is told the old study's values as its own, as its guide to warm starts says.
"""

import tempfile
from pathlib import Path

from ConfigSpace import Configuration, ConfigurationSpace, Float
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from benchmarks.quality.peer_process import serve


class SMAC:
    """A facade that has been told the old study's values."""

    def __init__(self, X: list[list[float]], y: list[float], d: int, seed: int) -> None:
        self._space = ConfigurationSpace(space=[Float(f"x{i}", (0.0, 1.0)) for i in range(d)], seed=seed)
        self._folder = tempfile.TemporaryDirectory()
        scenario = Scenario(
            self._space, deterministic=True, n_trials=10_000, seed=seed, output_directory=Path(self._folder.name)
        )
        begin = BlackBoxFacade.get_initial_design(scenario, n_configs=0, additional_configs=[self._configuration(X[0])])
        self._smac = BlackBoxFacade(
            scenario, lambda config, seed=0: 0.0, initial_design=begin, overwrite=True, logging_level=False
        )
        self._own: list[tuple[float, list[float]]] = []
        self._asked: TrialInfo | None = None
        for x, value in zip(X, y, strict=True):
            self._add(x, value)

    def ask(self) -> list[float]:
        """The next point."""
        self._asked = self._smac.ask()
        return [float(self._asked.config[name]) for name in self._space]

    def tell(self, x: list[float], y: float) -> None:
        """A value of the target."""
        if self._asked is None:
            self._add(x, y)
        else:
            self._smac.tell(self._asked, TrialValue(cost=y))
        self._own.append((y, x))
        self._asked = None

    def best(self) -> list[float]:
        """The point of the lowest value."""
        return min(self._own)[1]

    def _add(self, x: list[float], y: float) -> None:
        self._smac.tell(TrialInfo(self._configuration(x), seed=0), TrialValue(cost=y))

    def _configuration(self, x: list[float]) -> Configuration:
        return Configuration(self._space, {f"x{i}": value for i, value in enumerate(x)})


if __name__ == "__main__":
    serve(SMAC)
