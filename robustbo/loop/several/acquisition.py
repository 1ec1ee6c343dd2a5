"""Acquisition functions of several outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.models import ModelListGP
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor


@dataclass(frozen=True)
class Goal:
    """What is wanted of one outcome, in its model's units: larger is better.

    Attributes:
        is_objective: Whether it is to be maximized.
        low: The least value that will do.
        high: The greatest.
        reference: Of an objective: what counts as no good.
    """

    is_objective: bool
    low: float
    high: float
    reference: float | None = None

    def broken(self, mean: Tensor) -> Tensor:
        """By how much values break the bounds."""
        return (self.low - mean).clamp_min(0) + (mean - self.high).clamp_min(0)


def build_several(
    name: str,
    models: Sequence[GPyTorchModel],
    goals: Sequence[Goal],
    X: Tensor,
    X_pending: Tensor | None,
    seed: int,
    X_best: Tensor | None = None,
) -> AcquisitionFunction:
    """An acquisition function of fitted models, one an outcome, that is to be maximized."""
    objectives = [i for i, goal in enumerate(goals) if goal.is_objective]
    bounded = [(i, goal) for i, goal in enumerate(goals) if goal.low > -1e300 or goal.high < 1e300]
    return qLogNoisyExpectedHypervolumeImprovement(
        ModelListGP(*models),
        [goals[i].reference for i in objectives],
        X,
        objective=IdentityMCMultiOutputObjective(outcomes=objectives),
        constraints=[partial(_slack, i, goal) for i, goal in bounded] or None,
        X_pending=X_pending,
        prune_baseline=True,
    )


def _slack(i: int, goal: Goal, Y: Tensor) -> Tensor:
    return goal.broken(Y[..., i])
