"""Relevance pursuit: which observations have an error of their own, found from closed forms and a few refits.

Notation (shapes after any leading batch dimensions):
    e    n   leave-one-out error, observation minus prediction
    v    n   leave-one-out variance, the observation's own added variance removed
    q    n   e^2 / v, the squared standardized error
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

from robustbo.numerics.cholesky import leave_one_out
from robustbo.numerics.evidence import evidence
from robustbo.numerics.hyperparameters import Fit, Model, log_posterior, maximize, prior_covariance
from robustbo.numerics.selection import Rule

SCREEN_SHARE = 100
MIN_RISE = 1e-6  # nats that are worth another factorization


def optimal_variance(e: Tensor, v: Tensor) -> Tensor:
    """The added variance that maximizes the likelihood of one observation, the others fixed.

    Args:
        e: ``... x n`` leave-one-out errors.
        v: ``... x n`` leave-one-out variances, positive.

    Returns:
        ``... x n`` values of rho* = (e^2 - v)_+.

    References:
        Relevance pursuit, Lemma 1; equations.md section 6.
    """
    return (e.square() - v).clamp_min(0)


def gain(e: Tensor, v: Tensor) -> Tensor:
    """The log likelihood, in nats, that one observation gains by its best added variance.

    Args:
        e: ``... x n`` leave-one-out errors.
        v: ``... x n`` leave-one-out variances, positive.

    Returns:
        ``... x n`` values of (q - 1 - log q) / 2 where q > 1, else 0.

    References:
        equations.md section 6 (verified there by brute force).
    """
    q = e.square() / v
    is_outside = q > 1
    safe = q.masked_fill(~is_outside, 1.0)
    return torch.where(is_outside, (safe - 1 - safe.log()) / 2, torch.zeros_like(q))


def gains(model: Model, fit: Fit) -> Tensor:
    """What each of ``n`` observations gains by the best variance of its own, all else as it is in a fit."""
    e, v = errors(model, fit.theta, fit.rho)
    return gain(e, v)


def errors(model: Model, theta: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Leave-one-out errors and variances (own added variance removed), ``n`` each; the mean is that of all."""
    K0 = prior_covariance(model, theta)
    r = model.y - evidence(K0 + torch.diag(rho), model.y).m
    left_out = leave_one_out(r, K0, rho)
    return r - left_out.mean, left_out.variance


class Level(NamedTuple):
    """One stop of a pursuit.

    Attributes:
        support: Sorted indices of the observations that may have a variance of their own.
        fit: Hyperparameters and variances found for it.
    """

    support: tuple[int, ...]
    fit: Fit


Gains = Callable[[Level], Sequence[float]]
Refit = Callable[[Level, tuple[int, ...]], Level]


def refit(model: Model, level: Level, support: tuple[int, ...], **options: Any) -> Level:
    """The level of another support, climbed to from a level; new members begin at their closed-form variance."""
    e, v = errors(model, level.fit.theta, level.fit.rho)
    new = [i for i in support if i not in level.support]
    rho = level.fit.rho.clone()
    rho[new] = optimal_variance(e, v)[new]
    found = maximize(model, level.fit.theta, rho, _indices(support), v, **options)
    return Level(support, polish(model, found, support))


def polish(model: Model, fit: Fit, support: tuple[int, ...], *, max_rounds: int = 3) -> Fit:
    """Set the added variances to their closed-form optimum, as long as that raises the log posterior density.

    The density is so flat in a gross variance that a search stops well before its maximum.
    """
    members = _indices(support)
    for _ in range(max_rounds if support else 0):
        e, v = errors(model, fit.theta, fit.rho)
        rho = torch.zeros_like(fit.rho).index_put((members,), optimal_variance(e, v)[members])
        value = log_posterior(model, fit.theta, rho)
        if not value.F.item() > fit.F + MIN_RISE:
            break
        fit = fit._replace(rho=rho, F=value.F.item(), L=value.evidence.L.item())
    return fit


def empty(model: Model, theta: Tensor, **options: Any) -> Level:
    """The level without outliers, climbed to from theta."""
    none = torch.zeros_like(model.y)
    return Level((), maximize(model, theta, none, _indices(()), none, **options))


def screen(model: Model, theta: Tensor, threshold: float) -> Level:
    """The gross outliers at given hyperparameters, the grossest first, by closed forms alone.

    A gross value spoils the predictions of all its neighbours, so only the worst observation (one in `SCREEN_SHARE`) is
    taken at a time and everything is predicted anew, until nothing gains more than the threshold or half are taken.
    """
    n, rho, support = len(model.y), torch.zeros_like(model.y), set[int]()
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
            return Level(tuple(rho.nonzero().flatten().tolist()), Fit(theta, rho, -math.inf, -math.inf, 0, True))
        support |= {i for i in found.argsort(descending=True)[:room].tolist() if found[i] > threshold}


def largest(gains: Sequence[float], size: int, keep: Collection[int] = ()) -> tuple[int, ...]:
    """A support of at most ``size``: ``keep`` first, then the largest positive gains; ties go to the lower index."""
    ranked = sorted(range(len(gains)), key=lambda i: (i not in keep, -gains[i], i))
    return tuple(sorted(i for i in ranked[:size] if i in keep or gains[i] > 0))


def walk(start: Level, sizes: Sequence[int], gains: Gains, refit: Refit, *, max_swaps: int = 2) -> list[Level]:
    """Walk through support sizes, forward or backward as they go, refitting at each.

    At each size the support becomes that of the largest gains; as long as the refit climbs it is chosen anew, so that a
    wrong early choice can be taken back, which the paper's greedy steps cannot.

    Args:
        start: Where to begin.
        sizes: Support sizes in the order of the walk.
        gains: What each observation would gain, or gains, by a variance of its own, the others fixed.
        refit: The level of a support, climbed to from another level.
        max_swaps: How often a support is chosen anew at one size; 0 gives the paper's walk.

    Returns:
        One level a size. A forward walk stops growing where nothing gains any more.

    References:
        Relevance pursuit, Algorithms 1 and 2; equations.md section 6.
    """
    levels, current = [], start
    for size in sizes:
        keep = current.support if size >= len(current.support) else ()
        current = refit(current, largest(gains(current), size, keep))
        for _ in range(max_swaps):
            proposed = largest(gains(current), size)
            if proposed == current.support or (tried := refit(current, proposed)).fit.F <= current.fit.F:
                break
            current = tried
        levels.append(current)
    return levels


def sweep(levels: Sequence[Level], sizes: Sequence[int], gains: Gains, refit: Refit) -> list[Level]:
    """Walk over levels again, the other way: each is replaced where the one before leads to a higher maximum.

    Args:
        levels: Of an earlier walk, in the order of this one.
        sizes: Their sizes.
        gains: As for `walk`.
        refit: As for `walk`.
    """
    better = [levels[0]]
    for level, size in zip(levels[1:], sizes[1:], strict=True):
        (tried,) = walk(better[-1], [size], gains, refit)
        better.append(max(level, tried, key=lambda found: found.fit.F))
    return better


def settle(level: Level, rule: Rule, gains: Gains, refit: Refit, *, max_rounds: int = 8) -> Level:
    """Improve a support until each member gains what it must pay, and nobody else would.

    Args:
        level: Where to begin.
        rule: The total price of a support by its size.
        gains: As for `walk`.
        refit: As for `walk`.
        max_rounds: Rounds at most; each is kept only if the score rises.
    """
    for _ in range(max_rounds):
        k = len(level.support)
        found = gains(level)
        dear, cheap = rule(k + 1) - rule(k), rule(k) - rule(max(k - 1, 0))
        support = tuple(i for i, g in enumerate(found) if g > (cheap if i in level.support else dear))
        if support == level.support or score(tried := refit(level, support), rule) <= score(level, rule):
            return level
        level = tried
    return level


def score(level: Level, rule: Rule) -> float:
    """Log posterior density minus the price of the support."""
    return level.fit.F - rule(len(level.support))


def support_posterior(levels: Sequence[Level], rule: Rule) -> list[float]:
    """The posterior probability of each level among those of a walk, with the rule as the prior's logarithm.

    References:
        Relevance pursuit, section 5.1.
    """
    return torch.tensor([score(level, rule) for level in levels], dtype=torch.float64).softmax(0).tolist()


def _indices(support: Collection[int]) -> Tensor:
    return torch.tensor(sorted(support), dtype=torch.long)
