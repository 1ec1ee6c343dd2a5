"""Sets of values in several objectives: which none beats, what they dominate, and what counts as no good.

Also what a further point is expected to add, and what it is worth to know a doubtful value. Larger is better
throughout; the units are those of what is given.

Notation (shapes as broadcast):
    Y     m x K   values
    N             boxes of what a front does not dominate, above the reference point
    H             hypervolume that a point adds to a front
    y     b x r   values of one outcome of a point, each the right one with probability w
    mu, sd        what the others predict for it
"""

from typing import NamedTuple

import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume
from botorch.utils.multi_objective.pareto import is_non_dominated
from torch import Tensor

from robustbo.numerics.improvement.cells import cells, not_beaten
from robustbo.numerics.improvement.value_of_information import expected_improvement

BELOW = 0.1  # of the front's range: how far the reference point lies below its worst, as in BoTorch


def pareto_mask(Y: Tensor) -> Tensor:
    """Return which of ``... x m x K`` values are beaten by no other, ``... x m``."""
    return is_non_dominated(Y)


def membership(samples: Tensor, feasible: Tensor) -> Tensor:
    """The share of ``S x m x K`` samples in which each point is feasible (``S x m``) and beaten by no other: ``m``."""
    lowest = torch.where(feasible.unsqueeze(-1), samples, torch.full_like(samples, -torch.inf))
    return (pareto_mask(lowest) & feasible).to(samples).mean(0)


def hypervolume(Y: Tensor, reference: Tensor) -> float:
    """Hypervolume that ``m x K`` values dominate beyond ``K`` coordinates of a reference point."""
    Y = Y[(reference < Y).all(-1)]
    return Hypervolume(reference).compute(Y[pareto_mask(Y)]) if len(Y) else 0.0


def reference_point(Y: Tensor, feasible: Tensor | None = None) -> Tensor:
    """Reference point of values: a tenth of the front's range below its worst, in each objective.

    Where the front has no range in an objective, that of all values counts, and where these have none, their size.
    Where nothing is feasible it lies below all values: what is, may be worse than the best that is not.

    Args:
        Y: ``m x K`` values, at least one.
        feasible: ``m`` booleans: which make the front; all by default.
    """
    counting = Y if feasible is None else Y[feasible]
    front = counting[pareto_mask(counting)] if len(counting) else Y
    worst, best = front.amin(0), front.amax(0)
    span = Y.amax(0) - Y.amin(0)
    size = torch.where(worst == 0, torch.ones_like(worst), worst.abs())
    span = torch.where(best > worst, best - worst, torch.where(span > 0, span, size))
    return worst - BELOW * span


class Room(NamedTuple):
    """Region that a front leaves to be gained: ``N x K`` corners of disjoint boxes; the upper ones may be infinite."""

    low: Tensor
    high: Tensor


def room(Y: Tensor, reference: Tensor) -> Room:
    """Region that ``m x K`` values leave to be gained above a reference point."""
    points, least = Y.unsqueeze(0).numpy(), reference.numpy()
    disjoint = cells(points, not_beaten(points, (points == points).all(-1), least), least)
    corners = [(torch.from_numpy(of.at), torch.from_numpy(of.low), torch.from_numpy(of.high)) for of in disjoint.edges]
    low = torch.stack([at[begin] for at, begin, _ in corners], -1)
    return Room(low, torch.stack([torch.cat([at, at.new_tensor([torch.inf])])[end] for at, _, end in corners], -1))


def gain(to: Room, mu: Tensor, sd: Tensor) -> Tensor:
    """The hypervolume that points are expected to add whose objectives are independent and normal.

    Args:
        to: What the front leaves.
        mu: ``b x K`` means.
        sd: ``b x K`` standard deviations; zero where a value is certain.

    Returns:
        ``b`` values.
    """
    mu, sd = mu.unsqueeze(-2), sd.unsqueeze(-2)
    return (_above(mu, sd, to.low) - _above(mu, sd, to.high)).clamp_min(0).prod(-1).sum(-1)  # eq. 5.16


def _above(mu: Tensor, sd: Tensor, t: Tensor) -> Tensor:
    """E max(y - t, 0)."""
    mu, sd, t = torch.broadcast_tensors(mu, sd, t)
    is_normal = (sd > 0) & t.isfinite()
    expected = expected_improvement(mu, sd.where(is_normal, torch.ones_like(sd)), t.where(is_normal, mu))
    return torch.where(is_normal, expected, (mu - t).clamp_min(0))


def worth_of_objective(
    to: Room, Y: Tensor, k: int, y: Tensor, w: Tensor, mu: Tensor, sd: Tensor, *, is_believed: bool = True
) -> Tensor:
    """Worth of knowing doubtful values of one objective: E H(v) - H(E v), over what the value may be.

    It is v = y, one of those measured, or, if all are wrong, normal. H is convex in each coordinate, so it is never
    negative. A point of which no value is believed is in no front, so there H(E v) is left out. With one objective it
    is `value_of_information.value_of_replicate`.

    Args:
        to: What the front of the other points leaves.
        Y: ``b x K`` means of the points' objectives; of the doubtful one it does not matter.
        k: Which objective that is.
        y: ``b x r`` values.
        w: ``b x r`` probabilities that each is the objective's.
        mu: ``b`` means of what the others predict.
        sd: ``b`` standard deviations of that.
        is_believed: Whether any of the values is.

    Returns:
        ``b`` values, in the product of the objectives' units.
    """

    def expected_gain(v: Tensor, spread: Tensor) -> Tensor:
        at, of = Y.clone(), torch.zeros_like(Y)
        at[:, k], of[:, k] = v, spread
        return gain(to, at, of)

    none, w0 = torch.zeros_like(mu), (1 - w.sum(-1)).clamp_min(0)
    if_right = torch.stack([expected_gain(v, none) for v in y.unbind(-1)], -1)
    knowing = (w * if_right).sum(-1) + w0 * expected_gain(mu, sd)
    not_knowing = expected_gain((w * y).sum(-1) + w0 * mu, none) if is_believed else none
    return (knowing - not_knowing).clamp_min(0)  # eq. 5.19


def worth_of_constraint(H: Tensor, P: Tensor) -> Tensor:
    """Worth of knowing whether points that would add H keep a bound, which they do with probability P.

    As it is, one that likely keeps it is taken and one that likely does not is left, which is wrong with the smaller of
    the probabilities.
    """
    return H * torch.minimum(P, 1 - P)  # eq. 5.20
