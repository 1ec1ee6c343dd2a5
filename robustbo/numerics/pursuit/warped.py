"""Fits with one warp of the outcomes: predictions are averaged in units that all of them share."""

from collections.abc import Sequence

import torch

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit.search import WALK_FTOL
from robustbo.numerics.pursuit.support_fit import Level, refit


def with_warp(model: Model, best: Fit, levels: Sequence[Level]) -> list[Fit]:
    """The fits of levels, climbed to the warp of the one that was chosen where theirs is another.

    Args:
        model: What stays fixed.
        best: Whose warp it is.
        levels: Where to begin.
    """
    count = len(model.warp)
    if not count:
        return [level.fit for level in levels]
    t = best.theta[-count:]
    fixed = model._replace(warp=warp.fixed_warp(t.tolist()))

    def climb_to(level: Level) -> Fit:
        theta = torch.cat([level.fit.theta[:-count], t])
        if torch.equal(theta, level.fit.theta):
            return level.fit
        return refit(fixed, level._replace(fit=level.fit._replace(theta=theta)), level.support, ftol=WALK_FTOL).fit

    return [climb_to(level) for level in levels]
