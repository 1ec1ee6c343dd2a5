"""scikit-optimize's Optimizer, or that of its successor ProcessOptimizer, with a Gaussian process and their defaults.

Integers of ProcessOptimizer have no logarithmic scale. A trial that failed has the worst value so far. Constraints are
not told: whoever asks refuses a suggestion beyond one. It recommends the best measured point, as the result of either
has it (`x`).
"""

import importlib
import inspect
from typing import Any

from benchmarks.league.server.base import Base, Point


class Peer(Base):
    """An optimizer, by ask and tell."""

    def __init__(self, message: dict[str, Any], package: str) -> None:
        super().__init__(message)
        self._package = importlib.import_module(package)
        self._kinds = importlib.import_module(f"{package}.space")
        dimensions = [self._dimension(name, parameter) for name, parameter in self.space.items()]
        self._optimizer = self._package.Optimizer(dimensions, base_estimator="GP", random_state=self.seed)

    def _dimension(self, name: str, parameter: dict[str, Any]) -> Any:
        if parameter["kind"] == "choice":
            return self._kinds.Categorical(parameter["values"], name=name)
        if "values" in parameter:
            return self._kinds.Integer(0, len(parameter["values"]) - 1, name=name)
        of = self._kinds.Integer if parameter["kind"] == "int" else self._kinds.Real
        has_scale = parameter.get("log") and "prior" in inspect.signature(of).parameters
        scale = {"prior": "log-uniform"} if has_scale else {}
        return of(parameter["low"], parameter["high"], name=name, **scale)

    def ask(self) -> Point:
        """The optimizer's point."""
        row = self._optimizer.ask()
        return {name: self._value(name, value) for name, value in zip(self.space, row, strict=True)}

    def _value(self, name: str, value: Any) -> Any:
        parameter = self.space[name]
        if parameter["kind"] not in ("choice", "int", "float"):
            return parameter["values"][int(value)]
        value = value.item() if hasattr(value, "item") else value
        return int(value) if parameter["kind"] == "int" else value

    def tell(self, point: Point, value: float | None) -> None:
        """Tell a value."""
        super().tell(point, value)
        row = []
        for name, parameter in self.space.items():
            is_ranked = parameter["kind"] not in ("choice", "int", "float")
            row.append(parameter["values"].index(point[name]) if is_ranked else point[name])
        self._optimizer.tell(row, self.worst if value is None else self.sign * value)
