"""Feasibility where Ax's trials fail: the acquisition has their arms, and weighs by the probability of a value.

A model of failures sees points as the acquisition does, after all of Ax's transforms, its ranges scaled to [0, 1].
"""

from typing import Any, NamedTuple

import torch
from ax.adapter.transforms.base import Transform
from ax.core.observation import ObservationFeatures
from botorch.acquisition import AcquisitionFunction
from torch import Tensor

from robustbo.ax.experiment import iterate_ended_arms
from robustbo.loop.acquisition.feasibility_weight import FeasibilityWeighted, log_weight
from robustbo.loop.feasibility.model import fit_predictor

OPTION = "ended"  # of the acquisition


class Ended(NamedTuple):
    """The ends of trials: ``n x d`` points as the acquisition sees them, and whether each gave a value."""

    X: Tensor
    is_ok: tuple[bool, ...]


class HandOverFailures(Transform):
    """No transform: where arms within the search space have failed, it tells the acquisition how all have ended.

    What Ax itself hands over are the values alone, and the pending points.
    """

    no_op_for_experiment_data = True

    def transform_optimization_config(
        self, optimization_config: Any, adapter: Any = None, fixed_features: Any = None
    ) -> Any:
        """Return the configuration as it is; renew the acquisition's options on the way, just before it is made."""
        adapter = adapter or self.adapter
        options = {name: value for name, value in adapter.generator.acquisition_options.items() if name != OPTION}
        if (ended := _ends(adapter)) is not None:
            options[OPTION] = ended
        adapter.generator.acquisition_options = options  # a new one: the strategy keeps its own
        return optimization_config


def _ends(adapter: Any) -> Ended | None:
    """The ends of the arms; None where none has failed."""
    space = adapter._search_space.clone()
    space.set_parameter_constraints([])
    arms = [arm for arm in iterate_ended_arms(adapter._experiment) if space.check_membership(arm[0].parameters)]
    if all(ok for _, _, ok in arms):
        return None
    # What is noted has the values that the model gave to parameters that do not exist there.
    features = [ObservationFeatures.from_arm(arm, metadata=dict(noted or {})) for arm, noted, _ in arms]
    for transform in adapter.transforms.values():
        features = transform.transform_observation_features(features)
    X = adapter._transform_observation_features(features).to(torch.float64)
    return Ended(X, tuple(ok for *_, ok in arms))


class Viable(FeasibilityWeighted):
    """An acquisition function times a power of the probability of values at all points; of logarithms a sum.

    Args:
        function: Its values are logarithms (as ``_log`` says of BoTorch's), or at least 0.
        ended: How trials ended.
        bounds: ``d x 2`` least and greatest inputs.
        seed: Of the model's samples.
    """

    def __init__(self, function: AcquisitionFunction, ended: Ended, bounds: Tensor, seed: int) -> None:
        low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        predictor = fit_predictor((ended.X - low) / width, ended.is_ok, [False] * len(ended.is_ok), seed)
        super().__init__(function, predictor)
        self._log, self._low, self._width = function._log, low, width

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        """Say which points are pending."""
        self._function.set_X_pending(X_pending)
        self.X_pending = self._function.X_pending

    def forward(self, X: Tensor) -> Tensor:
        """``b`` values at ``b x q x d`` points."""
        Z = self._to_unit(X).reshape(-1, X.shape[-1])
        discount = log_weight(Z, self._predictor).reshape(X.shape[:-1]).sum(-1)
        value = self._function(X)
        return value + discount if self._log else value * discount.exp()

    def _to_unit(self, X: Tensor) -> Tensor:
        return (X.to(torch.float64) - self._low) / self._width
