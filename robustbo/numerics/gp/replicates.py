"""Several observations of one point, and several points with one value.

Those of one point that agree clear each other.

Sparse errors do not strike twice in the same way by chance, while a smooth process may find even the truth unlikely. So
where most of the values at a point agree, that counts for more than what the process thinks of them. But failures may
all look alike: a value that stands at another point too, to the last digit, is cleared by nothing; and one that recurs
at several may be one failure.
"""

import torch
from torch import Tensor

BLOCK = 2**22  # comparisons at once
ROUNDING = 1e-12  # relative, of values that are the same: transforms round a vector's last elements another way
FEW = 3  # points at which a value must stand to be one that recurs
SOME = 2  # values that stand at several points at most where failures are to blame


def agreeing(X: Tensor, y: Tensor, tolerance: Tensor) -> Tensor:
    """Which observations agree with the majority at their point.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.
        tolerance: ``n`` distances within which another value at the same point agrees.

    Returns:
        ``n`` booleans, False where a point was observed once, where no majority agrees, and for a value that stands at
        another point too.

    Example:
        >>> import torch
        >>> X = torch.tensor([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
        >>> agreeing(X, torch.tensor([3.0, 3.1, 9.0, 1.0, 5.0, 2.0]), torch.full((6,), 0.2)).tolist()
        [True, True, False, False, False, False]
    """
    _, place, counts = X.unique(dim=0, return_inverse=True, return_counts=True)
    agrees = torch.zeros_like(y, dtype=torch.bool)
    for rows in (counts[place] > 1).nonzero().squeeze(-1).split(max(1, BLOCK // len(y))):
        is_copy = place[rows].unsqueeze(1) == place
        apart = y[rows].unsqueeze(1) - y
        near = (is_copy & (apart.abs() <= tolerance[rows].unsqueeze(1))).sum(-1)
        stands_elsewhere = (~is_copy & (apart == 0)).any(-1)
        agrees[rows] = (2 * near > is_copy.sum(-1)) & ~stands_elsewhere
    return agrees


def recurring(X: Tensor, y: Tensor) -> tuple[frozenset[int], ...]:
    """The observations of each value that stands, but for rounding, at `FEW` different points or more.

    Where more than `SOME` values stand at several points, outcomes are coarse, and none is said to recur; nor is one of
    more than half of the observations.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.

    Returns:
        A set a value.

    Example:
        >>> import torch
        >>> recurring(torch.arange(7.0).unsqueeze(-1), torch.tensor([0.0, 1.0, 9.0, 9.0, 2.0, 9.0, 3.0]))
        (frozenset({2, 3, 5}),)
    """
    value = _numbered(y)
    rows = [(value == i).nonzero().squeeze(-1) for i in (value.bincount() > 1).nonzero().squeeze(-1)]
    places = [len(X[some].unique(dim=0)) for some in rows]
    if sum(k > 1 for k in places) > SOME:
        return ()
    return tuple(frozenset(r.tolist()) for r, k in zip(rows, places, strict=True) if k >= FEW and 2 * len(r) <= len(y))


def _numbered(y: Tensor) -> Tensor:
    """``n`` integers, the same where values are."""
    rising, order = y.sort(stable=True)
    is_new = torch.zeros_like(order)
    is_new[1:] = rising.diff() > ROUNDING * (1 + rising[1:].abs())
    return torch.empty_like(order).index_put((order,), is_new.cumsum(0))
