"""Levels where a pursuit may begin: another's, with a warp or without, in other units, without what is cleared."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.search import START_FTOL
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit


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


def bend(model: Model, pursued: Pursuit, t: Tensor) -> Pursuit:
    """The levels of a pursuit without a warp, roughly climbed to from one: where a pursuit with a warp may begin.

    Args:
        model: What stays fixed, the warp being free.
        pursued: The levels without a warp.
        t: ``3`` coordinates of the warp.
    """

    def climb(level: Level) -> Level:
        return refit(model, level_at(model, level.support, with_warp(level.fit, t)), level.support, ftol=START_FTOL)

    return Pursuit([climb(level) for level in pursued.levels], climb(pursued.best))


def straighten(pursued: Pursuit) -> Pursuit:
    """The levels of a pursuit, without their warp: where one without may begin."""
    none = torch.tensor(warp.NONE, dtype=torch.float64)

    def at(level: Level) -> Level:
        return level._replace(fit=with_warp(level.fit, none), cache=None)

    return Pursuit([at(level) for level in pursued.levels], at(pursued.best))


def rescale(pursued: Pursuit, model: Model, num_variances: int, factor: float) -> Pursuit:
    """The levels of a pursuit whose outcomes are standardized anew: where one of the same outcomes may begin.

    Args:
        pursued: The levels.
        model: What stays fixed.
        num_variances: How many logarithms of variances theta ends with, before the warp.
        factor: By how much the standardized outcomes are larger now.
    """
    count = len(model.warp)

    def at(level: Level) -> Level:
        theta = level.fit.theta.clone()
        end = len(theta) - count
        theta[end - num_variances : end] += 2 * math.log(factor)
        bends = slice(end, end + 2)
        theta[bends] = torch.log1p(torch.expm1(theta[bends]) / factor**2)  # a bend times an outcome stays
        theta[bends.stop :] *= factor  # and the origin among the outcomes
        return level._replace(fit=level.fit._replace(theta=theta, rho=level.fit.rho * factor**2), cache=None)

    return Pursuit([at(level) for level in pursued.levels], at(pursued.best))


def clear(pursued: Pursuit, model: Model) -> Pursuit:
    """The levels of a pursuit without variances of the observations that are cleared now."""

    def at(level: Level) -> Level:
        rho = level.fit.rho if model.cleared is None else level.fit.rho.masked_fill(model.cleared, 0.0)
        fit = level.fit._replace(rho=rho)
        return level._replace(support=model.groups.of(fit.support), fit=fit, cache=None)

    return Pursuit([at(level) for level in pursued.levels], at(pursued.best))


def with_warp(fit: Fit, t: Tensor) -> Fit:
    """A fit with other coordinates of the warp."""
    return fit._replace(theta=torch.cat([fit.theta[: -len(t)], t]))
