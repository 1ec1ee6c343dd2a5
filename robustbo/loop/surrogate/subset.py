"""The subset of very many observations that an exact process is fitted to; the others are judged by it.

Beyond `MOST` observations the first ones make way: half of what stays are those of the best predicted values, where the
loop works, and half are spread over all that is known, as far from each other as can be in the process's own
length-scales. Predictions decide, not values: a wrong one is no reason to stay. A choice holds for `STEP` observations
more, which all join. So the part that is left out grows from nothing, and there is no size at which anything jumps.

A choice follows from the observations alone.

References:
    docs/equations.md section 6, eq. 6.17.
"""

from collections.abc import Callable, Hashable
from itertools import islice, takewhile
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.loop.observations.correction import SourceCorrection
from robustbo.loop.observations.table import Observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.warm_start import anchor
from robustbo.numerics.linalg.farthest import farthest_points

MOST = 2000  # observations of which an exact process takes a second or so
STEP = 160  # observations between two choices; both are counts at which searches begin, see `warm_start.anchor`
GUESSED = 1920  # observations at most of the fit by which a choice is made, likewise
RENEWED = 8  # that is renewed where there are between an eighth and a quarter more observations
BEST = 0.5  # share of what stays that is chosen for its predicted value
REPLICATED = 0.5  # share of that which replicated points have before all others


class RoughPrediction(NamedTuple):
    """The prediction of the objective at ``n`` points by a process.

    Attributes:
        best: How good the value may be, larger being better.
        Z: ``n x d`` inputs in units of its length-scales.
    """

    best: Tensor
    Z: Tensor


class Subset(NamedTuple):
    """A choice.

    Attributes:
        told: All that stays, in order.
        sample: The observations of the fit by which it was made.
        num_chosen: How many of those that stay were chosen; those after them were told later.
        left_out: The observations that have made way.
    """

    told: Observations
    sample: Observations
    num_chosen: int
    left_out: Observations

    def with_correction(self, correction: SourceCorrection) -> "Subset":
        """The choice, its values without the errors of their sources."""
        told, left_out = self.told.with_correction(correction), self.left_out.with_correction(correction)
        return self._replace(told=told, left_out=left_out)


def select_subset(
    told: Observations,
    guess: Callable[[Observations, Observations], RoughPrediction],
    fits: FitCache,
    key: Hashable,
) -> Subset | None:
    """The subset that stays of some observations; None where all do.

    Args:
        told: All that there are.
        guess: What a process fitted to the first argument predicts at the points of the second.
        fits: The last choices.
        key: What they depend on besides.
    """
    n = len(told.values)
    first = told.first(n - n % STEP)
    if len(first.values) <= MOST:
        return None
    sample = thin_evenly(first.first(anchor(len(first.values), RENEWED)))
    room = MOST - STEP
    stays = fits.get_dear(("active", key, first), lambda: rows_to_keep(guess(sample, first), first, room))
    indices = [i for i in range(n) if i >= len(stays) or stays[i]]
    return Subset(told.take(indices), sample, room, first.take([i for i, is_kept in enumerate(stays) if not is_kept]))


def thin_evenly(told: Observations) -> Observations:
    """Some of the observations, evenly."""
    n = len(told.values)
    return told if n <= GUESSED else told.take([i * n // GUESSED for i in range(GUESSED)])


def rows_to_keep(guess: RoughPrediction, told: Observations, room: int) -> list[bool]:
    """Booleans of the observations that stay: as many as there is room for, those of one point one after the other.

    Of the best points those that have several values come first, up to a share: what was replicated matters.
    """
    places: dict[tuple[float, ...], list[int]] = {}
    for i, row in enumerate(told.X):
        places.setdefault(row, []).append(i)
    members = list(places.values())
    at = torch.tensor([indices[0] for indices in members])
    best = guess.best[at]
    counts = torch.tensor([len(indices) for indices in members])
    by_value = best.argsort(descending=True, stable=True)
    size_of_replicated = torch.where(counts > 1, counts, 0)[by_value].cumsum(0)
    comes_first = (counts[by_value] > 1) & (size_of_replicated <= REPLICATED * BEST * room)
    order = torch.cat([by_value[comes_first], by_value[~comes_first]])
    is_kept = [False] * len(told.values)
    num_best = int((counts[order].cumsum(0) <= BEST * room).sum())
    near = order[: max(1, num_best)]
    for place in [*near.tolist(), *spread_points(guess.Z[at], near, room)]:
        for i in members[place]:
            if room > 0:
                is_kept[i], room = True, room - 1
    return is_kept


def spread_points(Z: Tensor, begin: Tensor, count: int) -> list[int]:
    """Points one after the other, each the farthest from all before it.

    Args:
        Z: ``m x d`` points.
        begin: Indices of those before the first.
        count: How many at most.

    References:
        `robustbo.numerics.linalg.farthest` (eq. 6.17).
    """
    distances = torch.cdist(Z, Z[begin]).amin(-1).square()
    order = farthest_points(Z, distances, lambda D: D.square().sum(-1))
    farthest = islice(order, min(count, len(Z) - len(begin)))
    return [index for index, _ in takewhile(lambda point: point[1] > 0, farthest)]
