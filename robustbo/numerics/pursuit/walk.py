"""Relevance pursuit: which observations have an error of their own, found by walking through sizes of the support.

Sizes count groups; see `support_fit`.

Notation: as in `support_fit`.

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
import torch

from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.pursuit.averaging import REACH
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level, Refit

SAME = 0.01  # nats: levels of one support that differ by less are one


def resume(
    supports: Sequence[tuple[int, ...]], level_of: Callable[[int], Level], sizes: Sequence[int], refit: Refit
) -> list[Level]:
    """One level a size, from the middle size outward, its support chosen anew.

    Each is climbed to from the more promising of two: the earlier level of nearest size, which may know of another
    mode, and the nearest of these levels so far, which has seen all observations.

    Args:
        supports: Those of the earlier levels.
        level_of: The level of one of them, by its place, with its height at these observations; asked once each, for
            those alone that are nearest to a size.
        sizes: Support sizes, rising.
        refit: As for `walk`.
    """
    earlier, levels, middle = dict[int, Level](), dict[int, Level](), sizes[len(sizes) // 2]
    for size in sorted(sizes, key=lambda size: abs(size - middle)):
        place = min(range(len(supports)), key=lambda i: abs(len(supports[i]) - size))
        if place not in earlier:
            earlier[place] = level_of(place)
        begins = [earlier[place]]
        if levels:
            begins.append(levels[min(levels, key=lambda other: abs(other - size))])
        begin = max(begins, key=partial(_expected_height, size=size))
        levels[size] = refit(begin, largest(begin.gains, size))
    return [levels[size] for size in sizes]


def _expected_height(level: Level, size: int) -> float:
    """The height of another size's support before it is climbed from, as if each group gained by itself."""
    support, present = set(largest(level.gains, size)), set(level.support)
    gained, lost = ([level.gains[i] for i in groups] for groups in (support - present, present - support))
    return level.fit.F + math.fsum(gained) - math.fsum(lost)


def _height(level: Level) -> float:
    return level.fit.F


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
        Relevance pursuit, Algorithms 1 and 2 (with one start); docs/equations.md section 6.
    """
    best, paths = [], list(starts)
    for size in sizes:
        paths = _distinct([refit(level, _resize(level, size)) for level in paths])  # eq. 6.10
        best.append(max(paths, key=_height))
    return best


def sweep(levels: Sequence[Level], sizes: Sequence[int], refit: Refit, *, max_swaps: int = 2) -> list[Level]:
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
    return largest(level.gains, size, level.support if size >= len(level.support) else ())  # eq. 6.11


def _distinct(levels: Sequence[Level]) -> list[Level]:
    distinct: list[Level] = []
    for level in levels:
        if not any(level.support == other.support and abs(level.fit.F - other.fit.F) < SAME for other in distinct):
            distinct.append(level)
    return distinct


def settle(level: Level, penalty: Penalty, refit: Refit, *, max_rounds: int = 8) -> Level:
    """Improve a support until each member gains what it must pay, and nobody else would.

    Args:
        level: Where to begin.
        penalty: Of a support.
        refit: As for `walk`.
        max_rounds: Rounds at most; each is kept only if the score rises.
    """
    for _ in range(max_rounds):
        prices = penalty.prices(level.support, len(level.gains))
        support = tuple(np.flatnonzero(np.array(level.gains) > prices).tolist())
        if support == level.support or score(tried := refit(level, support), penalty) <= score(level, penalty):
            return level
        level = tried
    return level


def score(level: Level, penalty: Penalty) -> float:
    """Log posterior density minus the penalty of the support."""
    return level.fit.F - penalty.total(level.support)  # eq. 6.12


def plausible_levels(levels: Sequence[Level], penalty: Penalty) -> list[Level]:
    """The levels that may have a part in an average."""
    scores = [score(level, penalty) for level in levels]
    return [level for level, value in zip(levels, scores, strict=True) if value > max(scores) - REACH]


def best_per_support(fits: Sequence[Fit]) -> list[Fit]:
    """The best fit of each support; of equally high ones the first."""
    best = dict[tuple[int, ...], Fit]()
    for fit in fits:
        if fit.support not in best or fit.F > best[fit.support].F:
            best[fit.support] = fit
    return list(best.values())


def level_posterior(levels: Sequence[Level], penalty: Penalty) -> list[float]:
    """The posterior probability of each level among those of a walk, with the penalty as minus the prior's logarithm.

    References:
        Relevance pursuit, section 5.1.
    """
    return torch.tensor([score(level, penalty) for level in levels], dtype=torch.float64).softmax(0).tolist()
