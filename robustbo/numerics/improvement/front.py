"""Sets of values in several objectives: which none beats, what they dominate, and what counts as no good.

Larger is better throughout.
"""

import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume, infer_reference_point
from botorch.utils.multi_objective.pareto import is_non_dominated
from torch import Tensor


def non_dominated(Y: Tensor) -> Tensor:
    """Which of ``... x m x K`` values are beaten by no other, ``... x m``."""
    return is_non_dominated(Y)


def hypervolume(Y: Tensor, reference: Tensor) -> float:
    """What ``m x K`` values dominate beyond a reference point."""
    return Hypervolume(reference).compute(Y) if len(Y) else 0.0


def membership(samples: Tensor, feasible: Tensor) -> Tensor:
    """The share of ``S x m x K`` samples in which each point is feasible (``S x m``) and beaten by no other: ``m``."""
    lowest = torch.where(feasible.unsqueeze(-1), samples, torch.full_like(samples, -1e300))
    return (non_dominated(lowest) & feasible).double().mean(0)


def reference_point(Y: Tensor) -> Tensor:
    """What counts as no good beside ``m x K`` values: a tenth of the front's range below its worst."""
    return infer_reference_point(Y[non_dominated(Y)], scale=0.1)
