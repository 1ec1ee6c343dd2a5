"""The points that may well be on the front of several outcomes, of many: candidates for where values are sampled."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from robustbo.numerics.improvement.conditioned import means
from robustbo.numerics.improvement.goals import Goal
from robustbo.numerics.improvement.noisy import MOST
from robustbo.numerics.improvement.normal import LEAST
from robustbo.numerics.improvement.several import Mixture


def contenders(mixtures: Sequence[Mixture], goals: Sequence[Goal], Z: Tensor) -> Tensor:
    """``m x d`` points that may well be on the front, of more: whose means keep the bounds and are least beaten."""
    if len(Z) <= MOST:
        return Z
    means_of = [weights @ means(latents, Z) for weights, latents in mixtures]
    broken = torch.stack([goal.violation(mean) for goal, mean in zip(goals, means_of, strict=True)]).sum(0)
    by = torch.full((len(Z), len(Z)), math.inf, dtype=Z.dtype)  # how much the one is better in all objectives
    for goal, mean in zip(goals, means_of, strict=True):
        if goal.is_objective:
            by = by.minimum((mean - mean[:, None]) / (mean.amax() - mean.amin()).clamp_min(LEAST))
    by[:, broken > 0] = -math.inf
    beaten = torch.where(broken > 0, broken + 2.0, by.amax(-1))  # no span beats by more than 1
    return Z[beaten.argsort(stable=True)[:MOST].sort().values]
