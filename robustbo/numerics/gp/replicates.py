"""Several observations of one point, and several points with one value.

Those of one point that agree clear each other.

Sparse errors do not strike twice in the same way by chance, while a smooth process may find even the truth unlikely. So
where most of the values at a point agree, that counts for more than what the process thinks of them. But failures may
all look alike: a value that stands at another point too, to the last digit, is cleared by nothing; and one that recurs
at several may be one failure.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 2**22  # comparisons at once
ROUNDING = 1e-12  # relative, of values that are the same: transforms round a vector's last elements another way
TINY = 1e-300  # beside which no sum of weights is zero
FEW = 3  # points at which a value must stand to be one that recurs
MAX_RECURRING = 2  # values that stand at several points at most where failures are to blame


def agreement_mask(X: Tensor, y: Tensor, tolerance: Tensor) -> Tensor:
    """Return of each observation whether it agrees with the majority at its point.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.
        tolerance: ``n`` distances within which another value at the same point agrees, if it is within its own, too.

    Returns:
        ``n`` booleans, False where a point was observed once, where no majority agrees, and for a value that stands at
        another point too.

    Example:
        >>> import torch
        >>> X = torch.tensor([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
        >>> agreement_mask(X, torch.tensor([3.0, 3.1, 9.0, 1.0, 5.0, 2.0]), torch.full((6,), 0.2)).tolist()
        [True, True, False, False, False, False]
    """
    _, place, counts = X.unique(dim=0, return_inverse=True, return_counts=True)
    agrees = torch.zeros_like(y, dtype=torch.bool)
    for rows in (counts[place] > 1).nonzero().squeeze(-1).split(max(1, BLOCK // len(y))):
        is_copy = place[rows].unsqueeze(1) == place
        apart = y[rows].unsqueeze(1) - y
        near = (is_copy & (apart.abs() <= tolerance[rows].unsqueeze(1).minimum(tolerance))).sum(-1)
        stands_elsewhere = (~is_copy & (apart == 0)).any(-1)
        agrees[rows] = (2 * near > is_copy.sum(-1)) & ~stands_elsewhere
    return agrees


def are_distinct(X: Tensor) -> bool:
    """Return whether no two of ``n x d`` inputs are the same; it is quick where one coordinate tells them apart."""
    rising = X.sort(dim=0).values
    return bool((rising[1:] != rising[:-1]).all(0).any()) or len(X.unique(dim=0)) == len(X)


class Groups(NamedTuple):
    """Groups of observations that are right or wrong together: those of a value that recurs; any other stands alone.

    A group is named by its first observation.

    Attributes:
        recurring: The rising indices of the observations of each value that recurs.

    Example:
        >>> groups = Groups(((2, 3, 5),))
        >>> groups.of([0, 5, 3]), groups.members([0, 2]), groups.count(7)
        ((0, 2), (0, 2, 3, 5), 5)
    """

    recurring: tuple[tuple[int, ...], ...] = ()

    def of(self, observations: Iterable[int]) -> tuple[int, ...]:
        """The groups of some observations, sorted."""
        first = {i: group[0] for group in self.recurring for i in group}
        return tuple(sorted({first.get(i, i) for i in observations}))

    def members(self, groups: Iterable[int]) -> tuple[int, ...]:
        """All observations of some groups, sorted."""
        by_first = {group[0]: group for group in self.recurring}
        return tuple(sorted(i for first in groups for i in by_first.get(first, (first,))))

    def count(self, n: int) -> int:
        """Number of groups that n observations form."""
        return n - sum(len(group) - 1 for group in self.recurring)

    def mean(self, values: Tensor, weights: Tensor | None = None) -> Tensor:
        """``n`` values, those of a group replaced by their mean, which ``n`` weights weigh."""
        for rows in map(torch.tensor, self.recurring):
            w = torch.ones_like(values[rows]) if weights is None else weights[rows]
            values = values.index_put((rows,), (w * values[rows]).sum() / w.sum().clamp_min(TINY))
        return values

    def columns(self, members: Sequence[int]) -> list[int]:
        """The place of each member's group among the groups of all members, sorted."""
        place = {group: k for k, group in enumerate(self.of(members))}
        first = {i: group[0] for group in self.recurring for i in group}
        return [place[first.get(i, i)] for i in members]

    def without(self, is_left_out: Tensor) -> "Groups":
        """The groups without some of the observations: ``n`` booleans."""
        parts = (tuple(i for i in group if not is_left_out[i]) for group in self.recurring)
        return Groups(tuple(part for part in parts if part))

    def among(self, rows: Sequence[int]) -> "Groups":
        """The groups of some rows alone, as these are numbered."""
        place = {i: k for k, i in enumerate(rows)}
        parts = (tuple(sorted(place[i] for i in group if i in place)) for group in self.recurring)
        return Groups(tuple(part for part in parts if part))


def find_recurring_groups(X: Tensor, y: Tensor) -> Groups:
    """Find the observations of each value that stands, but for rounding, at `FEW` different points or more.

    Where more than `MAX_RECURRING` values stand at several points, or those that recur are more than half of all,
    outcomes are coarse, and no value counts as recurring.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.

    Returns:
        The groups.

    Example:
        >>> import torch
        >>> find_recurring_groups(torch.arange(7.0).unsqueeze(-1), torch.tensor([0.0, 1.0, 9.0, 9.0, 2.0, 9.0, 3.0]))
        Groups(recurring=((2, 3, 5),))
    """
    if (counts := count_points(X, y)) is None or (counts.points > 1).sum() > MAX_RECURRING:
        return Groups()
    numbers = (counts.points >= FEW).nonzero().squeeze(-1)
    rows = tuple(tuple((counts.number == i).nonzero().squeeze(-1).tolist()) for i in numbers)
    return Groups(rows if 2 * sum(map(len, rows)) <= len(y) else ())


class PointCounts(NamedTuple):
    """Numbers of points by value.

    Attributes:
        number: ``n`` numbers of the values, the same where values are.
        points: By number, the points at which the value stands.
        num_points: Of all.
    """

    number: Tensor
    points: Tensor
    num_points: int


def count_points(X: Tensor, y: Tensor) -> PointCounts | None:
    """Count the points at which each value stands, except for rounding; None where none was told `FEW` times.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.
    """
    number = _number_values(y)
    if number.bincount().max() < FEW:
        return None
    place = X.unique(dim=0, return_inverse=True)[1]
    points = torch.stack([number, place], -1).unique(dim=0)[:, 0].bincount()
    return PointCounts(number, points, int(place.max()) + 1)


def _number_values(y: Tensor) -> Tensor:
    """Number values by rank: ``n`` integers, the same where values are."""
    rising, order = y.sort(stable=True)
    is_new = torch.zeros_like(order)
    is_new[1:] = rising.diff() > ROUNDING * (1 + rising[1:].abs())
    return torch.empty_like(order).index_put((order,), is_new.cumsum(0))
