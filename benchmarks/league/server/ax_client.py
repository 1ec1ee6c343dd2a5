"""Ax's client with its own strategy, asked for one trial at a time.

Linear constraints are parameter constraints. Ordered lists are ordered choices. Parameters that exist under conditions
always exist for Ax here. A trial that failed is marked as failed. It recommends what `get_best_parameterization` does,
and the best measured point where Ax finds none.
"""

from typing import Any

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from benchmarks.league.server.base import Base, Point

METRIC = "value"


class Peer(Base):
    """A client."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        torch.set_num_threads(1)
        self._client = Client(random_seed=self.seed)
        texts = [_text(coefficients, constant) for coefficients, constant in self.constraints]
        self._client.configure_experiment(
            parameters=[_parameter(name, parameter) for name, parameter in self.space.items()],
            parameter_constraints=texts,
        )
        self._client.configure_optimization(objective=f"{'-' if self.sign > 0 else ''}{METRIC}")
        self._pending: tuple[int, Point] | None = None

    def ask(self) -> Point:
        """The strategy's point."""
        if self._pending is not None:  # it was measured elsewhere
            self._client.mark_trial_abandoned(self._pending[0])
        ((index, params),) = self._client.get_next_trials(max_trials=1).items()
        self._pending = (index, dict(params))
        return self._pending[1]

    def tell(self, point: Point, value: float | None) -> None:
        """Complete a trial, or attach one."""
        super().tell(point, value)
        if self._pending is not None and self._pending[1] == point:
            index, self._pending = self._pending[0], None
        else:
            index = self._client.attach_trial(point)
        if value is None:
            self._client.mark_trial_failed(index)
        else:
            self._client.complete_trial(index, raw_data={METRIC: value})

    def recommend(self) -> Point:
        """The point that Ax recommends."""
        try:
            return dict(self._client.get_best_parameterization()[0])
        except Exception:  # of Ax or BoTorch, where nothing is feasible by its model
            return super().recommend()


def _parameter(name: str, parameter: dict[str, Any]) -> Any:
    if "values" in parameter:
        values = parameter["values"]
        kinds = {bool: "bool", int: "int", float: "float"}
        is_ordered = parameter["kind"] != "choice"
        kind: Any = kinds.get(type(values[0]), "str")
        return ChoiceParameterConfig(name=name, values=values, parameter_type=kind, is_ordered=is_ordered)
    kind = "int" if parameter["kind"] == "int" else "float"
    scaling: Any = "log" if parameter.get("log") else None
    bounds = (parameter["low"], parameter["high"])
    step = parameter.get("step") if kind == "float" else None
    return RangeParameterConfig(name=name, bounds=bounds, parameter_type=kind, scaling=scaling, step_size=step)


def _text(coefficients: dict[str, float], constant: float) -> str:
    return f"{' + '.join(f'{a!r} * {name}' for name, a in coefficients.items())} <= {-constant!r}"
