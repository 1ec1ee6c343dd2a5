"""The evidence for a warp of the outcomes: a value that would be an outlier without one may not buy it by itself.

In a small table one gross value on one side can be explained by a warp as well as by an error. So the evidence for a
warp is what it gains where those that are outliers without one have variances of their own, and say nothing of it.
Where that is little there is no warp, and they are outliers.

References:
    docs/equations.md section 17.
"""

import math
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.search import START_FTOL
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit

PRICE = math.log(10)  # nats: the odds that a warp has against it, as an outlier has
SETTLED = 10.0  # nats from which on more observations are not asked again
STARTS = ((0.0, 0.0), (1.5, 1.5))  # of the climb to a warp
FTOL = 1e-6
WORTH = 1.0  # nats that a warp must promise for the climb to go on


class WarmStart(NamedTuple):
    """The end of a search, where one with more observations begins.

    Attributes:
        pursued: The levels.
        center: Of the outcomes, as they were standardized.
        scale: Likewise.
        is_straight: Whether there is no warp.
        warp_evidence: Nats that speak for one.
        straight: The levels without a warp, where `pursued` has one and it was asked whether it must.
    """

    pursued: Pursuit
    center: Tensor
    scale: Tensor
    is_straight: bool
    warp_evidence: float
    straight: Pursuit | None = None


def evidence_of_warp(model: Model, level: Level, before: Pursuit | None = None) -> tuple[float, Tensor]:
    """Nats that a warp gains beside the outliers of a level without one, and the warp's ``2`` coordinates.

    Args:
        model: What stays fixed, the warp being free.
        level: The level without a warp.
        before: An earlier pursuit with a warp, at which the climb begins.
    """
    theta, climb = level.fit.theta, partial(refit, model, support=level.support)
    starts = list(map(theta.new_tensor, STARTS)) if before is None else [before.best.fit.theta[-len(warp.SIDES) :]]
    begins = [level_at(model, level.support, _with_warp(level.fit, t)) for t in starts]
    best = max((climb(begin, ftol=START_FTOL) for begin in begins), key=lambda end: end.fit.F)
    if best.fit.F > level.fit.F + WORTH:
        best = climb(best, ftol=FTOL)
    best = max(level, best, key=lambda end: end.fit.F)
    return best.fit.F - level.fit.F, best.fit.theta[-len(warp.SIDES) :]


def bend(model: Model, pursued: Pursuit, t: Tensor) -> Pursuit:
    """The levels of a pursuit without a warp, roughly climbed to from one: where a pursuit with a warp may begin.

    Args:
        model: What stays fixed, the warp being free.
        pursued: The levels without a warp.
        t: ``2`` coordinates of the warp.
    """

    def climb(level: Level) -> Level:
        return refit(model, level_at(model, level.support, _with_warp(level.fit, t)), level.support, ftol=START_FTOL)

    return Pursuit([climb(level) for level in pursued.levels], climb(pursued.best))


def straighten(pursued: Pursuit) -> Pursuit:
    """The levels of a pursuit, without their warp: where one without may begin."""
    none = torch.zeros(len(warp.SIDES), dtype=torch.float64)

    def at(level: Level) -> Level:
        return level._replace(fit=_with_warp(level.fit, none), cache=None)

    return Pursuit([at(level) for level in pursued.levels], at(pursued.best))


def rescale(pursued: Pursuit, model: Model, d: int, factor: float) -> Pursuit:
    """The levels of a pursuit whose outcomes are standardized anew: where one of the same outcomes may begin.

    Args:
        pursued: The levels; their covariances are of ``d`` length-scales and, as a rule, a signal variance.
        model: What stays fixed.
        d: Number of inputs.
        factor: By how much the standardized outcomes are larger now.
    """
    log_square = 2 * math.log(factor)

    def at(level: Level) -> Level:
        theta, count = level.fit.theta.clone(), len(model.warp)
        theta[d : len(theta) - count] += log_square
        if count:
            theta[-count:] = torch.log1p(torch.expm1(theta[-count:]) / factor**2)  # a bend times an outcome stays
        return level._replace(fit=level.fit._replace(theta=theta, rho=level.fit.rho * factor**2), cache=None)

    return Pursuit([at(level) for level in pursued.levels], at(pursued.best))


def _with_warp(fit: Fit, t: Tensor) -> Fit:
    return fit._replace(theta=torch.cat([fit.theta[: -len(t)], t]))
