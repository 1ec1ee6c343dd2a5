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

from robustbo.numerics.gp.map_fit import Fit, climb
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit import search, walk
from robustbo.numerics.pursuit.held import FixedHyperparameters, SupportState
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import Level, transfer_fit

MANY = 256  # observations beyond which one support is as good as certain; a pursuit from nothing has no more
TURNS = 3  # of climbs and changes of the support; later ones hardly ever change anything
CLIMB_FTOL = 1e-4  # tolerance of these climbs, as in `ascent.ascend`
OTHER = 0.1  # share of the observations by which supports differ that are another word on the data
LEAST = 1e-8  # of the outcomes' variance: an added variance below is none


class Pursuit(NamedTuple):
    """The result of a pursuit.

    Attributes:
        levels: One a size that was visited, by rising size; the best alone beyond `MANY` observations.
        best: The level of the highest score.
    """

    levels: list[Level]
    best: Level


def pursue_from_nothing(part: Callable[[Tensor], Model], plan_for: Callable[[Model], PursuitPlan], n: int) -> Pursuit:
    """Pursue the outliers among n observations from nothing.

    Args:
        part: The model of the observations of some indices.
        plan_for: How to pursue in a model.
        n: How many there are.
    """
    size, *larger = sizes(n)
    indices = evenly(n, size)
    model = part(indices)
    plan = plan_for(model)
    levels = search.cold_levels(model, plan)
    pursuit = Pursuit(levels, search.best_level(model, plan, levels))
    for size in larger:
        before, indices = indices, evenly(n, size)
        place = torch.full((n,), -1).index_copy(0, before, torch.arange(len(before)))
        model = part(indices)
        pursuit = continue_pursuit(model, plan_for(model), pursuit, place[indices], is_climbing=True)
    return pursuit


def sizes(n: int) -> list[int]:
    """Numbers of observations that are pursued one after the other: about twice as many each time, in the end all n.

    Example:
        >>> sizes(100), sizes(300), sizes(600), sizes(1000)
        ([100], [256, 300], [256, 600], [256, 512, 1000])
    """
    counts = [min(n, MANY)]
    while 3 * counts[-1] <= n:
        counts.append(2 * counts[-1])
    return counts if counts[-1] == n else [*counts, n]


def evenly(n: int, size: int) -> Tensor:
    """The indices of so many of n observations, evenly."""
    return torch.arange(size) * n // size


def continue_pursuit(
    model: Model, plan: PursuitPlan, before: Pursuit, rows: Tensor, *, is_climbing: bool = False
) -> Pursuit:
    """Continue a pursuit of some of the observations with all of them.

    Args:
        model: What stays fixed.
        plan: How to pursue.
        before: Where the other ended.
        rows: Which of its observations each is, see `support_fit.transfer_fit`.
        is_climbing: Whether to climb, where there are many observations; the hyperparameters are held if not.
    """
    if len(model.y) > MANY:
        begins, turns = (_levels_to_grow(before, plan), TURNS) if is_climbing else ([before.best], 0)
        climbs = [alternate_climbs(model, plan, transfer_fit(level.fit, rows, model.groups), turns) for level in begins]
        level = max(climbs, key=partial(walk.score, penalty=plan.penalty))
        return Pursuit([level], level)
    size = len(before.best.support) if plan.fixed_size is None else plan.fixed_size
    levels = search.warm_levels(model, plan, before.levels, size, rows)
    return Pursuit(levels, search.best_level(model, plan, levels))


def _levels_to_grow(before: Pursuit, plan: PursuitPlan) -> list[Level]:
    """The best level, and the best of those that are quite another word on the data: more of them may bear it out."""
    apart = OTHER * len(before.best.fit.rho)
    rivals = [level for level in before.levels if abs(len(level.support) - len(before.best.support)) > apart]
    return [before.best, *sorted(rivals, key=partial(walk.score, penalty=plan.penalty))[-1:]]


def alternate_climbs(model: Model, plan: PursuitPlan, begin: Fit, turns: int, *, ftol: float = CLIMB_FTOL) -> Level:
    """Alternate changes of the support at fixed hyperparameters with climbs at the support that they lead to."""
    fit = begin
    fixed, state = settle_support(model, plan, fit)
    for _ in range(turns):
        before, support = state.members, torch.from_numpy(state.members)
        rho, v = _spread(model.y, state), torch.from_numpy(state.v)
        fit, _ = climb(model, fit.theta, rho, support, v, ftol=ftol)
        fixed, state = settle_support(model, plan, fit)
        if np.array_equal(state.members, before):
            break
    return _level(model, fit, fixed, state)._replace(cache=fixed.prediction_cache(state))


def level_at_hyperparameters(model: Model, penalty: Penalty, begin: Fit) -> Level:
    """The level of the best support at the hyperparameters of a fit, which stay as they are."""
    return _level(model, begin, *settle_support(model, PursuitPlan([0], penalty), begin))


def _level(model: Model, at: Fit, fixed: FixedHyperparameters, state: SupportState) -> Level:
    fit, out = at._replace(rho=_spread(model.y, state), F=state.F, L=state.L), fixed.group_errors(state)
    return Level(state.support, fit, out.e, out.v, out.gains.tolist())


def settle_support(model: Model, plan: PursuitPlan, fit: Fit) -> tuple[FixedHyperparameters, SupportState]:
    """The best support at the hyperparameters of a fit, from its own on."""
    fixed, rho = FixedHyperparameters(model, fit.theta), fit.rho.numpy()
    return fixed, fixed.settle(fixed.initial_state(rho * (rho > LEAST)), plan.penalty, plan.fixed_size)


def _spread(y: Tensor, state: SupportState) -> Tensor:
    """``n`` added variances."""
    return torch.zeros_like(y).index_put((torch.from_numpy(state.members),), torch.from_numpy(state.rho))
