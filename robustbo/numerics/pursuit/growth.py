"""A pursuit of many observations: of a few hundred of them first, then of twice as many, until all are there.

What a search from nothing finds in hundreds of evaluations is nearly known from half of the data: the hyperparameters,
and which of these observations are wrong. So a search begins there. Up to `MANY` observations it walks through sizes of
the support, since predictions are averaged over those that are plausible; beyond, one support is as good as certain,
and climbs of the hyperparameters alternate with changes of the support while they are held (`held`). (From less than a
hundred observations, of which many are wrong, a search finds that nothing is and all is noise, and stays there.)

Notation: as in `support_fit`.

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import Fit, climb
from robustbo.numerics.pursuit import search, walk
from robustbo.numerics.pursuit.held import Held, Supported
from robustbo.numerics.pursuit.search import Plan
from robustbo.numerics.pursuit.support_fit import Level, placed

MANY = 256  # observations beyond which one support is as good as certain; a pursuit from nothing has no more
TURNS = 3  # of climbs and changes of the support; later ones hardly ever change anything
CLIMB_FTOL = 1e-4  # relative tolerance of these climbs
OTHER = 0.1  # share of the observations by which supports differ that are another word on the data
LEAST = 1e-8  # of the outcomes' variance: an added variance below is none


class Pursued(NamedTuple):
    """Where a pursuit ended.

    Attributes:
        levels: One a size that was visited, by rising size; the best alone beyond `MANY` observations.
        best: The level of the highest score.
    """

    levels: list[Level]
    best: Level


def grown(part: Callable[[Tensor], Model], plan_for: Callable[[Model], Plan], n: int) -> Pursued:
    """A pursuit that knows nothing, of n observations.

    Args:
        part: The model of the observations of some indices.
        plan_for: How to pursue in a model.
        n: How many there are.
    """
    size, *larger = sizes(n)
    indices = evenly(n, size)
    model = part(indices)
    plan = plan_for(model)
    levels = search.cold(model, plan)
    found = Pursued(levels, search.best(model, plan, levels))
    for size in larger:
        before, indices = indices, evenly(n, size)
        place = torch.full((n,), -1).index_copy(0, before, torch.arange(len(before)))
        model = part(indices)
        found = continued(model, plan_for(model), found, place[indices], is_climbing=True)
    return found


def sizes(n: int) -> list[int]:
    """How many of n observations are pursued one after the other: about twice as many each time, in the end all.

    Example:
        >>> sizes(100), sizes(300), sizes(600), sizes(1000)
        ([100], [256, 300], [256, 600], [256, 512, 1000])
    """
    found = [min(n, MANY)]
    while 3 * found[-1] <= n:
        found.append(2 * found[-1])
    return found if found[-1] == n else [*found, n]


def evenly(n: int, size: int) -> Tensor:
    """The indices of so many of n observations, evenly."""
    return torch.arange(size) * n // size


def continued(model: Model, plan: Plan, before: Pursued, rows: Tensor, *, is_climbing: bool = False) -> Pursued:
    """A pursuit that begins where one of some of the observations ended.

    Args:
        model: What stays fixed.
        plan: How to pursue.
        before: Where the other ended.
        rows: Which of its observations each is, see `support_fit.placed`.
        is_climbing: Whether to climb, where there are many observations; the hyperparameters are held if not.
    """
    if len(model.y) > MANY:
        begins, turns = (_worth_growing(before, plan), TURNS) if is_climbing else ([before.best], 0)
        found = [_alternating(model, plan, placed(level.fit, rows), turns) for level in begins]
        level = max(found, key=partial(walk.score, penalty=plan.penalty))
        return Pursued([level], level)
    chosen = len(before.best.support) if plan.known is None else plan.known
    levels = search.warm(model, plan, before.levels, chosen, rows)
    return Pursued(levels, search.best(model, plan, levels))


def _worth_growing(before: Pursued, plan: Plan) -> list[Level]:
    """The best level, and the best of those that are quite another word on the data: more of them may bear it out."""
    apart = OTHER * len(before.best.fit.rho)
    others = [level for level in before.levels if abs(len(level.support) - len(before.best.support)) > apart]
    return [before.best, *sorted(others, key=partial(walk.score, penalty=plan.penalty))[-1:]]


def _alternating(model: Model, plan: Plan, begin: Fit, turns: int) -> Level:
    """Changes of the support at held hyperparameters, and climbs with the support that they lead to."""
    fit = begin
    held, found = _settled(model, plan, fit)
    for _ in range(turns):
        before, support = found.members, torch.from_numpy(found.members)
        rho, v = _spread(model.y, found), torch.from_numpy(found.v)
        parameterization = plan.parameterization
        fit, _ = climb(model, fit.theta, rho, support, v, parameterization=parameterization, ftol=CLIMB_FTOL)
        held, found = _settled(model, plan, fit)
        if np.array_equal(found.members, before):
            break
    fit, out = fit._replace(rho=_spread(model.y, found), F=found.F, L=found.L), held.left_out(found)
    return Level(found.support, fit, out.e, out.v, out.gains.tolist(), held.known(found))


def _settled(model: Model, plan: Plan, fit: Fit) -> tuple[Held, Supported]:
    """The best support at the hyperparameters of a fit, from its own on."""
    held, rho = Held(model, fit.theta), fit.rho.numpy()
    return held, held.settle(held.beginning(rho * (rho > LEAST)), plan.penalty, plan.known)


def _spread(y: Tensor, found: Supported) -> Tensor:
    """``n`` added variances."""
    return torch.zeros_like(y).index_put((torch.from_numpy(found.members),), torch.from_numpy(found.rho))
