"""SMAC: its black-box facade where all parameters are numbers, at most ten, else its facade for hyperparameters.

That is what its documentation advises. Values are random to it (the default), so that it measures points again to be
sure of its incumbent. Conditions are told. A trial that failed is told as crashed. Constraints are not told: whoever
asks refuses a suggestion beyond one. It recommends its incumbent.
"""

import tempfile
from pathlib import Path
from typing import Any

from ConfigSpace import (
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    InCondition,
    OrdinalHyperparameter,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from ConfigSpace.conditions import AndConjunction
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.runhistory import StatusType, TrialInfo, TrialValue

from benchmarks.league.server.base import Base, Point

FEW = 10  # numbers


class Peer(Base):
    """A facade, by ask and tell."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        self._configurations = _space_of(self.space, self.seed)
        scenario = Scenario(
            self._configurations,
            n_trials=self.budget,
            seed=self.seed,
            output_directory=Path(tempfile.mkdtemp(prefix="smac-")),
        )
        is_plain = len(self.space) <= FEW and all(p["kind"] == "float" for p in self.space.values())
        facade = BlackBoxFacade if is_plain else HyperparameterOptimizationFacade
        self._facade = facade(scenario, _never, overwrite=True, logging_level=False)
        self._pending: tuple[Point, TrialInfo] | None = None

    def ask(self) -> Point:
        """The facade's configuration, with something for what does not exist in it."""
        info = self._facade.ask()
        self._pending = (self._point(info.config), info)
        return self._pending[0]

    def _point(self, configuration: Configuration) -> Point:
        default = {name: parameter.get("values", [parameter.get("low")])[0] for name, parameter in self.space.items()}
        return default | {name: _plain(value) for name, value in dict(configuration).items()}

    def tell(self, point: Point, value: float | None) -> None:
        """Tell a value, or a crash."""
        super().tell(point, value)
        status = StatusType.CRASHED if value is None else StatusType.SUCCESS
        cost = self.worst if value is None else self.sign * value
        if self._pending is not None and self._pending[0] == point:
            info = self._pending[1]
        else:
            info = TrialInfo(self._configuration(point), seed=self.seed)
        self._facade.tell(info, TrialValue(cost=cost, status=status))
        self._pending = None

    def _configuration(self, point: Point) -> Configuration:
        values = dict(point)
        while True:
            absent = [name for name in values if not _exists(self.space[name], values)]
            if not absent:
                return Configuration(self._configurations, values=values)
            for name in absent:
                values.pop(name)

    def recommend(self) -> Point:
        """The incumbent."""
        incumbent = self._facade.intensifier.get_incumbent()
        return super().recommend() if incumbent is None else self._point(incumbent)


def _never(config: Configuration, seed: int = 0) -> float:
    raise RuntimeError("values are told")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _exists(parameter: dict[str, Any], values: Point) -> bool:
    when = parameter.get("when") or {}
    return all(other in values and values[other] in allowed for other, allowed in when.items())


def _space_of(space: dict[str, dict[str, Any]], seed: int) -> ConfigurationSpace:
    configurations = ConfigurationSpace(seed=seed)
    by_name = {name: _hyperparameter(name, parameter) for name, parameter in space.items()}
    configurations.add(list(by_name.values()))
    for name, parameter in space.items():
        when = parameter.get("when") or {}
        conditions = [InCondition(by_name[name], by_name[other], list(allowed)) for other, allowed in when.items()]
        if conditions:
            configurations.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))
    return configurations


def _hyperparameter(name: str, parameter: dict[str, Any]) -> Any:
    if parameter["kind"] == "choice":
        return CategoricalHyperparameter(name, parameter["values"])
    if "values" in parameter:
        return OrdinalHyperparameter(name, parameter["values"])
    of = UniformIntegerHyperparameter if parameter["kind"] == "int" else UniformFloatHyperparameter
    return of(name, parameter["low"], parameter["high"], log=bool(parameter.get("log")))
