"""HEBO with its defaults. A trial that failed has the worst value so far. It recommends its `best_x`.

Ordered lists are told as integers, their ranks. Constraints are not told: whoever asks refuses a suggestion beyond one.
"""

from typing import Any

import numpy as np
import pandas as pd
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from benchmarks.league.server.base import Base, Point


class Peer(Base):
    """Heteroscedastic evolutionary Bayesian optimization."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        np.random.seed(self.seed)  # noqa: NPY002 (HEBO and pymoo draw from it)
        design = DesignSpace().parse([_parameter(name, parameter) for name, parameter in self.space.items()])
        self._optimizer = HEBO(design, scramble_seed=self.seed)

    def ask(self) -> Point:
        """HEBO's suggestion."""
        return self._decode(self._optimizer.suggest(n_suggestions=1).iloc[0])

    def tell(self, point: Point, value: float | None) -> None:
        """Observe a value."""
        super().tell(point, value)
        cost = self.worst if value is None else self.sign * value
        row = {name: self._rank(name, point[name]) for name in self.space}
        self._optimizer.observe(pd.DataFrame([row]), np.array([[cost]]))

    def recommend(self) -> Point:
        """The point that HEBO names as the best."""
        return self._decode(self._optimizer.best_x.iloc[0])

    def _rank(self, name: str, value: Any) -> Any:
        parameter = self.space[name]
        if parameter["kind"] == "choice":
            return f"c{parameter['values'].index(value)}"
        return parameter["values"].index(value) if "values" in parameter else value

    def _decode(self, row: Any) -> Point:
        point = {}
        for name, parameter in self.space.items():
            value = row[name]
            if parameter["kind"] == "choice":
                point[name] = parameter["values"][int(str(value)[1:])]
            elif "values" in parameter:
                point[name] = parameter["values"][int(value)]
            else:
                point[name] = int(value) if parameter["kind"] == "int" else float(value)
        return point


def _parameter(name: str, parameter: dict[str, Any]) -> dict[str, Any]:
    if parameter["kind"] == "choice":
        return {"name": name, "type": "cat", "categories": [f"c{rank}" for rank in range(len(parameter["values"]))]}
    if "values" in parameter:
        return {"name": name, "type": "int", "lb": 0, "ub": len(parameter["values"]) - 1}
    kinds = {("float", False): "num", ("float", True): "pow", ("int", False): "int", ("int", True): "pow_int"}
    kind = kinds[parameter["kind"], bool(parameter.get("log"))]
    return {"name": name, "type": kind, "lb": parameter["low"], "ub": parameter["high"]}
