"""A whole pursuit: walks through sizes of the support, to and fro, and the best of what they find, settled.

Notation: as in `support_fit`.

References:
    Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import Level, Refit, empty, extended, refit, suspicious

START_FTOL, WALK_FTOL, FINAL_FTOL = 1e-3, 1e-4, 1e-9  # relative tolerances of the beginning, the way and the end


class Plan(NamedTuple):
    """How to pursue.

    Attributes:
        sizes: Of the supports to visit, rising, in groups.
        penalty: Of a support.
        is_backward: Whether the first walk goes from the largest size to the smallest.
        sweeps: Walks through the sizes, every second one in the other direction; more find higher maxima.
        parameterization: Of the added variances, a name of `map_fit.PARAMETERIZATIONS`.
        known: A known size of the support, or None.
    """

    sizes: Sequence[int]
    penalty: Penalty
    is_backward: bool = True
    sweeps: int = 3
    parameterization: str = "log"
    known: int | None = None

    def refit(self, model: Model, ftol: float) -> Refit:
        """The climb to the level of another support."""
        return partial(refit, model, parameterization=self.parameterization, ftol=ftol)


def cold(model: Model, plan: Plan) -> list[Level]:
    """The levels of walks that know nothing, by rising size."""
    climb, sizes = plan.refit(model, WALK_FTOL), plan.sizes
    if plan.is_backward:
        starts = suspicious(model, ftol=START_FTOL, parameterization=plan.parameterization)
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


def warm(model: Model, plan: Plan, before: Level, rows: Tensor) -> list[Level]:
    """The plausible levels and those next to them, by rising size, from the best one of an earlier pursuit.

    Its size is climbed to first, and every other from the one beside it: neighbours have nearly the same
    hyperparameters, and climbs between them are short. The walk goes up as far as levels are plausible, and then down.

    Args:
        model: What stays fixed.
        plan: Of its sizes, some are visited.
        before: The level that the earlier pursuit chose.
        rows: Which of its observations each is, see `support_fit.placed`; outliers are taken to be as much more.
    """
    climb, sizes = plan.refit(model, WALK_FTOL), plan.sizes
    reach = partial(walk.reach, penalty=plan.penalty, refit=climb)
    count = plan.known or len(before.support) * len(rows) / len(before.fit.rho)
    middle = min(range(len(sizes)), key=lambda i: abs(sizes[i] - count))
    begin = extended(model, before, rows)
    levels = reach([climb(begin, walk.largest(begin.gains, sizes[middle]))], sizes[middle + 1 :])
    end = middle + len(levels)
    levels = walk.sweep(levels[::-1], sizes[middle:end][::-1], climb)
    return reach(levels, sizes[:middle][::-1])[::-1]


def best(model: Model, plan: Plan, levels: Sequence[Level]) -> Level:
    """The level of the highest score, settled and climbed to the end."""
    penalty, climb = plan.penalty, plan.refit(model, WALK_FTOL)
    settled = walk.settle(max(levels, key=partial(walk.score, penalty=penalty)), penalty, climb)
    return plan.refit(model, FINAL_FTOL)(settled, settled.support)
