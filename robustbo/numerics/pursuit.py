"""Relevance pursuit: which observations have an error of their own, found from closed forms and a few refits.

Notation (shapes after any leading batch dimensions):
    e    n   leave-one-out error, observation minus prediction
    v    n   leave-one-out variance, the observation's own added variance removed
    rho  n   added variances
    F        log posterior density of hyperparameters and variances

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; equations.md section 6.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gains import errors, errors_at, gain, optimal_variance
from robustbo.numerics.hyperparameters import Model
from robustbo.numerics.search import Fit, climb, maximize
from robustbo.numerics.selection import Price

SCREEN_SHARE = 100
SUSPICION = 100.0  # added variance of everybody at the beginning, in units of the outcomes' variance
SAME = 0.01  # nats: levels of one support that differ by less are one


class Level(NamedTuple):
    """One stop of a pursuit.

    Attributes:
        support: Sorted indices of the observations that may have a variance of their own.
        fit: Hyperparameters and variances found for it.
        e: ``n`` leave-one-out errors there.
        v: ``n`` leave-one-out variances there.
    """

    support: tuple[int, ...]
    fit: Fit
    e: Tensor
    v: Tensor

    @property
    def gains(self) -> list[float]:
        """What each observation gains by the best variance of its own, all else as it is in the fit."""
        return gain(self.e, self.v).tolist()


Refit = Callable[[Level, tuple[int, ...]], Level]


def refit(model: Model, level: Level, support: tuple[int, ...], **options: Any) -> Level:
    """The level of another support, climbed to from a level; new members begin at their closed-form variance."""
    new = [i for i in support if i not in level.support]
    rho = level.fit.rho.clone()
    rho[new] = optimal_variance(level.e, level.v)[new]
    return _climbed(model, support, level.fit.theta, rho, level.v, **options)


def empty(model: Model, *, start_ftol: float = 1e-4, **options: Any) -> Level:
    """The level without outliers, climbed to from the best of what every start of the model roughly leads to."""
    none = torch.zeros_like(model.y)
    rough = [maximize(model, theta, none, _indices(()), none, ftol=start_ftol) for theta in model.starts]
    return _climbed(model, (), max(rough, key=lambda fit: fit.F).theta, none, none, **options)


def suspicious(model: Model, group: Collection[int], **options: Any) -> list[Level]:
    """Levels in which a group's observations are outliers to begin with, climbed to from every start of the model.

    Each has a variance of `SUSPICION`, or its square where that is more, and may lose it; the cleared have none.
    """
    rho, none = _suspected(model, group), torch.zeros_like(model.y)
    members = tuple(rho.nonzero().flatten().tolist())
    return [_climbed(model, members, theta, rho, errors(model, theta, none)[1], **options) for theta in model.starts]


def _suspected(model: Model, group: Collection[int]) -> Tensor:
    """``n`` added variances that leave those of a group that are not cleared without a pull."""
    members = _indices(group)
    rho = torch.zeros_like(model.y).index_put((members,), model.y.square().clamp_min(SUSPICION)[members])
    return rho if model.cleared is None else rho.masked_fill(model.cleared, 0.0)


def extended(model: Model, level: Level) -> Level:
    """A level of the first observations as one of all of them: those that came later have no variance of their own."""
    rho = torch.cat([level.fit.rho, level.fit.rho.new_zeros(len(model.y) - len(level.fit.rho))])
    return Level(level.support, level.fit._replace(rho=rho), *errors(model, level.fit.theta, rho))


def resume(levels: Sequence[Level], sizes: Sequence[int], refit: Refit) -> list[Level]:
    """One level a size, each climbed to from the one of nearest size, its support chosen anew."""
    nearest = [min(levels, key=lambda level: abs(len(level.support) - size)) for size in sizes]
    return [refit(level, largest(level.gains, size)) for level, size in zip(nearest, sizes, strict=True)]


def _climbed(model: Model, support: tuple[int, ...], theta: Tensor, rho: Tensor, v: Tensor, **options: Any) -> Level:
    fit, value = climb(model, theta, rho, _indices(support), v, **options)
    return Level(support, fit, *errors_at(model, value, fit.rho))


def _height(level: Level) -> float:
    return level.fit.F


def screen(model: Model, theta: Tensor, threshold: float, begin: Collection[int] = ()) -> Level:
    """The gross outliers at given hyperparameters, the grossest first, by closed forms alone.

    A gross value spoils the predictions of all its neighbours, so only the worst observation (one in `SCREEN_SHARE`) is
    taken at a time (those to begin with at once) and everything is predicted anew, until nothing gains more than the
    threshold or half are taken.
    """
    n, rho, support = len(model.y), _suspected(model, begin), set(begin)
    while True:
        e, v = errors(model, theta, rho)
        members = _indices(support)
        rho = rho.index_put((members,), optimal_variance(e, v)[members])
        found = gain(e, v)
        needless = members[found[members] <= threshold]  # taken when a neighbour was to blame
        found = found.index_fill(0, members, 0.0)
        room = min(max(1, n // SCREEN_SHARE), n // 2 - len(support))
        if room <= 0 or not found.max() > threshold:
            rho = rho.index_fill(0, needless, 0.0)
            return Level(tuple(rho.nonzero().flatten().tolist()), Fit(theta, rho, -math.inf, -math.inf, 0, True), e, v)
        support |= {i for i in found.argsort(descending=True)[:room].tolist() if found[i] > threshold}


def largest(gains: Sequence[float], size: int, keep: Collection[int] = ()) -> tuple[int, ...]:
    """A support of at most ``size``: ``keep`` first, then the largest positive gains; ties go to the lower index."""
    ranked = sorted(range(len(gains)), key=lambda i: (i not in keep, -gains[i], i))
    return tuple(sorted(i for i in ranked[:size] if i in keep or gains[i] > 0))


def walk(starts: Sequence[Level], sizes: Sequence[int], refit: Refit) -> list[Level]:
    """Walk through support sizes, forward or backward as they go, on one path a start, refitting at each size.

    At each size a support becomes that of the largest gains. Paths that meet go on as one.

    Args:
        starts: Where to begin.
        sizes: Support sizes in the order of the walk.
        refit: The level of a support, climbed to from another level.

    Returns:
        The best level of each size. A forward walk stops growing where nothing gains any more.

    References:
        Relevance pursuit, Algorithms 1 and 2 (with one start); equations.md section 6.
    """
    best, paths = [], list(starts)
    for size in sizes:
        paths = _distinct([refit(level, _resize(level, size)) for level in paths])
        best.append(max(paths, key=_height))
    return best


def sweep(levels: Sequence[Level], sizes: Sequence[int], refit: Refit, *, max_swaps: int = 1) -> list[Level]:
    """Walk over levels again, the other way: each is replaced where the one before leads to a higher maximum.

    A support is chosen anew as long as its refit climbs: a wrong early choice is taken back, which the paper's greedy
    steps cannot.

    Args:
        levels: Of an earlier walk, in the order of this one.
        sizes: Their sizes.
        refit: As for `walk`.
        max_swaps: How often a support is chosen anew at one size.
    """
    better = [levels[0]]
    for level, size in zip(levels[1:], sizes[1:], strict=True):
        before = better[-1]
        support = _resize(before, size)
        if support == level.support:
            better.append(level)
            continue
        tried = refit(before, support)
        for _ in range(max_swaps):
            proposed = largest(tried.gains, size)
            if proposed == tried.support or (other := refit(tried, proposed)).fit.F <= tried.fit.F:
                break
            tried = other
        better.append(max(level, tried, key=_height))
    return better


def _resize(level: Level, size: int) -> tuple[int, ...]:
    return largest(level.gains, size, level.support if size >= len(level.support) else ())


def _distinct(levels: Sequence[Level]) -> list[Level]:
    kept: list[Level] = []
    for level in levels:
        if not any(level.support == other.support and abs(level.fit.F - other.fit.F) < SAME for other in kept):
            kept.append(level)
    return kept


def of_recurring(model: Model, best: Level, refit: Refit, **options: Any) -> list[Level]:
    """Levels at which recurring values are out that were not, each or all, alone or beside what a walk has found.

    Where many observations have it, no walk leads there: each alone is what its like predict.

    Args:
        model: Whose `alike` says which recur.
        best: Of a walk, by which also `refit` is explained.
        options: Of the climbs from the model's starts.
    """
    found = []
    for group in dict.fromkeys((*model.alike, frozenset[int]().union(*model.alike))):
        if not group <= set(best.support):
            beside = tuple(sorted(group.union(best.support)))
            found += [*suspicious(model, group, **options), refit(best, beside)]
    return found


def settle(level: Level, price: Price, refit: Refit, *, max_rounds: int = 8) -> Level:
    """Improve a support until each member gains what it must pay, and nobody else would.

    Args:
        level: Where to begin.
        price: Of a support.
        refit: As for `walk`.
        max_rounds: Rounds at most; each is kept only if the score rises.
    """
    for _ in range(max_rounds):
        of_one = price.of_one(level.support)
        support = tuple(i for i, g in enumerate(level.gains) if g > of_one(i))
        if support == level.support or score(tried := refit(level, support), price) <= score(level, price):
            return level
        level = tried
    return level


def score(level: Level, price: Price) -> float:
    """Log posterior density minus the price of the support."""
    return level.fit.F - price.total(level.support)


def support_posterior(levels: Sequence[Level], price: Price) -> list[float]:
    """The posterior probability of each level among those of a walk, with the price as minus the prior's logarithm.

    References:
        Relevance pursuit, section 5.1.
    """
    return torch.tensor([score(level, price) for level in levels], dtype=torch.float64).softmax(0).tolist()


def _indices(support: Collection[int]) -> Tensor:
    return torch.tensor(sorted(support), dtype=torch.long)
