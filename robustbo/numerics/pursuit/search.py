"""A whole pursuit: walks through sizes of the support, to and fro, and the best of what they find, settled.

Notation: as in `support_fit`.

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import (
    Level,
    Refit,
    empty,
    refit,
    revalue_level,
    suspicious_levels,
    transfer_support,
)

START_FTOL, WALK_FTOL, FINAL_FTOL = 1e-3, 1e-4, 1e-9  # tolerances of the beginning, the way and the end, as in `ascent`
WARM_FTOL = 1e-3  # of the way from levels that are known
NEIGHBOURS = 1  # levels on either side of a plausible one that a warm pursuit visits


class PursuitPlan(NamedTuple):
    """Settings of a pursuit.

    Attributes:
        sizes: Of the supports to visit, rising, in groups.
        penalty: Of a support.
        is_backward: Whether the first walk goes from the largest size to the smallest.
        sweeps: Walks through the sizes, every second one in the other direction; more find higher maxima.
        fixed_size: A known size of the support, or None.
    """

    sizes: Sequence[int]
    penalty: Penalty
    is_backward: bool = True
    sweeps: int = 3
    fixed_size: int | None = None

    def refit(self, model: Model, ftol: float) -> Refit:
        """The climb to the level of another support."""
        return partial(refit, model, ftol=ftol)


def cold_levels(model: Model, plan: PursuitPlan) -> list[Level]:
    """The levels of walks that know nothing, by rising size."""
    climb, sizes = plan.refit(model, WALK_FTOL), plan.sizes
    if plan.is_backward:
        starts = suspicious_levels(model, ftol=START_FTOL)
        levels = walk.walk(starts, sizes[::-1], climb)[::-1]
    else:
        levels = walk.walk([empty(model, ftol=WALK_FTOL)], sizes, climb)
    for sweep in range(plan.sweeps - 1):
        upward = plan.is_backward == (sweep % 2 == 0)
        order = slice(None) if upward else slice(None, None, -1)
        if upward and sizes[0] == 0:
            levels[0] = max(levels[0], empty(model, ftol=WALK_FTOL), key=lambda level: level.fit.F)
        levels[order] = walk.sweep(levels[order], sizes[order], climb)
    return levels


def warm_levels(
    model: Model, plan: PursuitPlan, before: Sequence[Level], chosen_size: int, rows: Tensor
) -> list[Level]:
    """The levels that an earlier pursuit of fewer observations makes worth a visit, by rising size.

    Those that are still worth it, now that these observations have been seen at each, are swept both ways.

    Args:
        model: What stays fixed.
        plan: Of its sizes, those that are worth it are visited.
        before: The levels of the earlier pursuit.
        chosen_size: The size that it chose, or a known one.
        rows: Which of its observations each is, see `support_fit.transfer_fit`.
    """
    times = len(rows) / len(before[0].fit.rho)
    sizes, climb = sizes_to_visit(plan, before, chosen_size, times), plan.refit(model, WARM_FTOL)
    begins = [transfer_support(model, level, rows) for level in before]
    supports = [support for support, _ in begins]
    levels = walk.resume(supports, lambda i: revalue_level(model, *begins[i]), sizes, climb)
    visited = dict(zip(sizes, levels, strict=True))
    likeliest = max(levels, key=partial(walk.score, penalty=plan.penalty))
    sizes = sizes_to_visit(plan._replace(sizes=sizes), levels, len(likeliest.support))
    levels = [visited[size] for size in sizes]
    levels = walk.sweep(levels[::-1], sizes[::-1], climb)[::-1]
    return walk.sweep(levels, sizes, climb)


def sizes_to_visit(plan: PursuitPlan, before: Sequence[Level], chosen_size: int, times: float = 1.0) -> list[int]:
    """The sizes that were plausible, since predictions are averaged over them, the chosen one, and those next to these.

    Args:
        plan: Of whose sizes they are.
        before: The levels of an earlier pursuit.
        chosen_size: The size that it chose, or a known one.
        times: How many times as many observations there are as it had: outliers are taken to be as much more.
    """
    sizes = plan.sizes

    def nearest(count: float) -> int:
        return min(range(len(sizes)), key=lambda i: abs(sizes[i] - count))

    plausible = walk.plausible_levels(before, plan.penalty)
    counts = [plan.fixed_size or times * chosen_size, *(times * len(level.support) for level in plausible)]
    middles = {nearest(count) for count in counts}
    return [sizes[i] for i in range(len(sizes)) if any(abs(i - middle) <= NEIGHBOURS for middle in middles)]


def best_level(model: Model, plan: PursuitPlan, levels: Sequence[Level]) -> Level:
    """The level of the highest score, settled and climbed to the end."""
    penalty, climb = plan.penalty, plan.refit(model, WALK_FTOL)
    settled = walk.settle(max(levels, key=partial(walk.score, penalty=penalty)), penalty, climb)
    return plan.refit(model, FINAL_FTOL)(settled, settled.support)
