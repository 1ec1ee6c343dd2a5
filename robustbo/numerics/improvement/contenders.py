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
    Y = torch.stack([mean for goal, mean in zip(goals, means_of, strict=True) if goal.is_objective], -1)
    return Z[least_beaten(Y, broken)[:MOST].sort().values]


def least_beaten(Y: Tensor, broken: Tensor) -> Tensor:
    """``m`` indices of points, those first that are on the front or nearly so.

    Args:
        Y: ``m x p`` objectives, larger being better.
        broken: By how much a point breaks bounds, 0 where it keeps them; points that break any beat nobody.
    """
    span = (Y.amax(0) - Y.amin(0)).clamp_min(LEAST)
    by = ((Y.unsqueeze(0) - Y.unsqueeze(1)) / span).amin(-1)  # how much the one is better in all objectives
    by[:, broken > 0] = -math.inf
    return torch.where(broken > 0, broken + 2.0, by.amax(-1)).argsort(stable=True)  # no span beats by more than 1
