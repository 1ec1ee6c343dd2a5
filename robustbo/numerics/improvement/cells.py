"""Region that points in several objectives do not dominate, as disjoint boxes; of many sets at once.

Larger is better. A box is told by places among the points of its set, so that what is computed of a coordinate is
computed once: in each objective place 0 is the reference, places 1 to F the coordinates of the points in ascending
order, and place F + 1 infinity.

Notation:
    S, F, K    sets, points of a set, objectives
    N          boxes of all sets; those of a set stand together
    E          edges of all sets in one objective: different coordinates at which boxes begin or end

References:
    docs/equations.md section 5. In two objectives there are F + 1 boxes, a staircase; in three 2 F + 1 would do.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array

Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Edges(NamedTuple):
    """The coordinates at which boxes begin and end in one objective.

    Attributes:
        at: ``E`` coordinates, those of a set together, the lowest first.
        owner: ``E`` numbers of the sets.
        first: ``S`` places of each set's lowest.
        low: ``N`` places among them at which each box begins.
        high: ``N`` places at which it ends; E where it does not.
    """

    at: Array
    owner: Places
    first: Places
    low: Places
    high: Places


class DisjointBoxes(NamedTuple):
    """Disjoint boxes of all sets: their edges in each objective, and where in the list those of each set begin."""

    edges: Sequence[Edges]
    first: Places


def not_beaten(Y: Array, feasible: Flags, reference: Array) -> Flags:
    """Return which points are above the reference with no other as good in all objectives; of equals the first.

    Args:
        Y: ``S x m x K`` points.
        feasible: ``S x m`` points that count.
        reference: ``S x K`` or ``K`` least coordinates.
    """
    counts = feasible & (np.broadcast_to(reference, (len(Y), Y.shape[-1]))[:, None, :] < Y).all(-1)
    is_in = np.zeros(counts.shape, dtype=bool)
    for s, (of, among) in enumerate(zip(Y, counts, strict=True)):
        places = np.flatnonzero(among)
        y = of[places]
        at_least = (y[:, None, :] >= y[None, :, :]).all(-1)  # the first beats or equals the second
        is_equal = at_least & at_least.T
        beats = at_least & ~is_equal | np.triu(is_equal, 1)
        is_in[s, places[~beats.any(0)]] = True
    return is_in


def cells(Y: Array, is_in: Flags, reference: Array) -> DisjointBoxes:
    """The region above the reference that the points of each set do not dominate.

    Args:
        Y: ``S x m x K`` points.
        is_in: ``S x m``: those of each set, see `not_beaten`.
        reference: ``S x K`` or ``K`` least coordinates.
    """
    S, K = len(Y), Y.shape[-1]
    reference = np.broadcast_to(reference, (S, K))
    fronts = [of[mask] for of, mask in zip(Y, is_in, strict=True)]
    counts = np.array([len(of) for of in fronts], dtype=np.intp)
    width = int(counts.max(initial=0)) + 2
    at = np.full((S, width, K), np.inf)
    ranks = np.full((S, width - 2, K), -1, dtype=np.intp)
    for s, front in enumerate(fronts):
        order = front.argsort(0, kind="stable")
        at[s, 0], at[s, 1 : len(front) + 1] = reference[s], np.take_along_axis(front, order, 0)
        of = order.argsort(0) + 1
        ranks[s, : len(front)] = of[(-of[:, -1]).argsort()]  # the best in the last objective first
    left, finished = _Pieces(np.arange(S), np.zeros((S, K), dtype=np.intp), np.repeat(counts[:, None] + 1, K, 1)), []
    for i in range(width - 2):
        left, above = _without(ranks[:, i], i < counts, left)
        finished.append(above)
    owner, low, high = (np.concatenate(part) for part in zip(left, *finished, strict=True))
    if K > 2:  # of two none can be
        owner, low, high = _join_boxes(owner, low, high)
    is_thick = (at[owner[:, None], low, range(K)] < at[owner[:, None], high, range(K)]).all(-1)
    owner, low, high = owner[is_thick], low[is_thick], high[is_thick]
    order = owner.argsort(kind="stable")
    owner, low, high = owner[order], low[order], high[order]
    edges = [_edges(at[:, :, j], counts, owner, low[:, j], high[:, j]) for j in range(K)]
    return DisjointBoxes(edges, np.searchsorted(owner, np.arange(S)))


class _Pieces(NamedTuple):
    """Boxes: ``N`` sets that they are of, and ``N x K`` places at which they begin and end."""

    owner: Places
    low: Places
    high: Places


def _without(point: Places, is_there: Flags, left: _Pieces) -> tuple[_Pieces, _Pieces]:
    """Boxes less what another point of each set dominates: what is left beside it, and above it in the last objective.

    The rest of a box is a box for each objective at most. What is above in the last one no further point cuts.
    """
    p = point[left.owner]
    is_cut = is_there[left.owner] & (left.low < p).all(-1)
    owner, low, high, p = left.owner[is_cut], left.low[is_cut], left.high[is_cut].copy(), p[is_cut]
    parts = list[_Pieces]()
    for j in reversed(range(p.shape[1])):  # above the point in this objective, and below it in those behind
        begins = low.copy()
        begins[:, j] = p[:, j]
        is_left = begins[:, j] < high[:, j]
        parts.append(_Pieces(owner[is_left], begins[is_left], high[is_left]))
        high = high.copy()
        high[:, j] = np.minimum(high[:, j], p[:, j])
    beside = [_Pieces(*(part[~is_cut] for part in left)), *parts[1:]]
    return _Pieces(*(np.concatenate(part) for part in zip(*beside, strict=True))), parts[0]


def _join_boxes(owner: Places, low: Places, high: Places) -> tuple[Places, Places, Places]:
    """Boxes of which those that are one behind the other in some objective, and alike in the others, are one."""
    for j in range(low.shape[1]):
        sides_of_others = [corners[:, k] for k in range(low.shape[1]) if k != j for corners in (low, high)]
        order = np.lexsort([low[:, j], *sides_of_others, owner])
        owner, low, high = owner[order], low[order], high[order]
        sides = np.delete(np.concatenate([low, high], 1), [j, j + low.shape[1]], 1)
        goes_on = (owner[1:] == owner[:-1]) & (sides[1:] == sides[:-1]).all(1) & (low[1:, j] == high[:-1, j])
        first = np.flatnonzero(np.concatenate([[True], ~goes_on]))
        last = np.concatenate([first[1:], [len(owner)]]) - 1
        ends = high[last, j]
        owner, low, high = owner[first], low[first], high[first]
        high[:, j] = ends
    return owner, low, high


def _edges(at: Array, counts: Places, owner: Places, low: Places, high: Places) -> Edges:
    """The edges of one objective that there are."""
    width, ends = at.shape[1], high <= counts[owner]
    begin, end = owner * width + low, owner * width + high
    used = np.unique(np.concatenate([begin, end[ends]]))
    high = np.where(ends, np.searchsorted(used, end), len(used))
    first = np.searchsorted(used, np.arange(len(at)) * width)
    return Edges(at.ravel()[used], used // width, first, np.searchsorted(used, begin), high)
