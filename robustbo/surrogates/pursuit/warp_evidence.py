"""The evidence for a warp of the outcomes: a value that would be an outlier without one may not buy it by itself.

In a small table one gross value on one side can be explained by a warp as well as by an error. So the evidence for a
warp is what it gains where those that are outliers without one have variances of their own, and say nothing of it.
Where that is little there is no warp, and they are outliers.

References:
    docs/equations.md section 17.
"""

import math
from functools import partial

from torch import Tensor

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.search import START_FTOL
from robustbo.numerics.pursuit.support_fit import Level, level_at, refit
from robustbo.surrogates.pursuit.beginnings import with_warp

PRICE = math.log(10) + 1.0  # nats: the odds that a warp has against it, as an outlier has; a fitted origin (Akaike)
SETTLED = 10.0  # nats from which on more observations are not asked again
STARTS = (warp.NONE, (1.5, 1.5, 0.0))  # of the climb to a warp
FTOL = 1e-6
WORTH = 1.0  # nats that a warp must promise for the climb to go on


def evidence_of_warp(model: Model, level: Level, before: Pursuit | None = None) -> tuple[float, Tensor]:
    """Nats that a warp gains beside the outliers of a level without one, and the warp's ``3`` coordinates.

    Args:
        model: What stays fixed, the warp being free.
        level: The level without a warp.
        before: An earlier pursuit with a warp, at which the climb begins.
    """
    theta, climb = level.fit.theta, partial(refit, model, support=level.support)
    starts = list(map(theta.new_tensor, STARTS)) if before is None else [before.best.fit.theta[-len(warp.FREE) :]]
    begins = [level_at(model, level.support, with_warp(level.fit, t)) for t in starts]
    best = max((climb(begin, ftol=START_FTOL) for begin in begins), key=lambda end: end.fit.F)
    if best.fit.F > level.fit.F + WORTH:
        best = climb(best, ftol=FTOL)
    best = max(level, best, key=lambda end: end.fit.F)
    return best.fit.F - level.fit.F, best.fit.theta[-len(warp.FREE) :]
