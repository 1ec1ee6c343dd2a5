"""Importance of parameters: with which of them the prediction varies over the space."""

from __future__ import annotations

import numpy as np
import torch

from robustbo import seeds
from robustbo.numerics.gp.total_effects import total_effects
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.view.points import PointView

SAMPLES = 512
ROOT = 0  # of the draws, which are the same for every study


def importance(view: PointView) -> dict[str | None, dict[str, float]]:
    """The share of the predicted mean's variation over the space that goes with each parameter.

    It is the total effect (docs/equations.md, 23.1): interactions count for each of their parameters. Constraints are
    kept; a parameter that follows from others by an equation has none of its own.

    Args:
        view: The optimization.

    Returns:
        By outcome, or under None, a share from 0 on for each parameter, the largest first.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    space = view.space
    region = region_of(space)
    names = [space.names[i] for i in region.free]
    points = sobol_points(region, seeds.derive(ROOT, 0, "importance"), 0, SAMPLES)
    U = torch.tensor([space.to_unit(point) for point in points], dtype=torch.float64)
    partners = U[seeds.generator(ROOT, 0, "importance of parameters").permutation(len(U))]
    blocks, keeps = [U], []
    for column in region.free:
        moved = U.clone()
        moved[:, column] = partners[:, column]
        moved = region.complete(moved)
        keeps.append(region.holds(moved).numpy())
        blocks.append(region.canonical(moved.clamp(0.0, 1.0)))
    posteriors = view.posteriors(torch.cat(blocks).tolist())
    is_point = np.array(keeps).reshape(len(names), -1)
    return {outcome: _shares(names, np.array(means), is_point) for outcome, (means, _) in posteriors.items()}


def _shares(names: list[str], means: np.ndarray, is_point: np.ndarray) -> dict[str, float]:
    values = means.reshape(len(names) + 1, -1)
    moved = torch.from_numpy(np.where(is_point, values[1:], np.nan))
    effects = total_effects(torch.from_numpy(values[0]), moved).tolist()
    return dict(sorted(zip(names, effects, strict=True), key=lambda pair: -pair[1]))
