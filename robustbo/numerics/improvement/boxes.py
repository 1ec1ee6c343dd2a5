"""The expected gain of hypervolume over boxes, where outcomes are independent and normal: its logarithm and slopes.

Notation: see `several`. In linear terms each sample's psi are multiples of a power of e of its own, the density at its
lowest edge. Where all products underflow nevertheless, the point is computed again in logarithms throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.improvement.cells import DisjointBoxes, Edges, Flags, Places
from robustbo.numerics.improvement.normal import LIMIT, scaled_parts
from robustbo.numerics.linalg.lapack import Array

DEEP = 600.0  # nats below the largest multiple: what underflows is far less
LEAST = 1e-300  # by which logarithms differ


class Along(NamedTuple):
    """Boxes in one objective.

    Attributes:
        edges: Where they begin and end.
        at: ``E`` coordinates, not below the least value that will do.
        gap: ``E`` heights by which that value lies above the edge: whatever it is, that much is gained; None if none.
        to_boxes: ``N x E``: 1 where a box begins, -1 where it ends; `to_edges` is the other way round.
    """

    edges: Edges
    at: Array
    gap: Array | None
    to_boxes: csr_array
    to_edges: csr_array


class Boxes(NamedTuple):
    """The boxes of all samples: along each objective, and where those of each sample begin."""

    along: Sequence[Along]
    first: Places
    owner: Places


class Gain(NamedTuple):
    """Expected gain at ``b`` points.

    Attributes:
        value: ``b`` logarithms of the sum over all samples.
        share: ``S x b`` shares of the samples in it.
        by_M: Of each objective ``S x b`` derivatives of the logarithm by the means.
        by_sd: Likewise by the standard deviations.
    """

    value: Array
    share: Array
    by_M: Sequence[Array]
    by_sd: Sequence[Array]


def boxes(cells: DisjointBoxes, lows: Sequence[float]) -> Boxes:
    """Boxes with what is computed of them once, above the least value of each objective that will do."""
    along = [_along(edges, low) for edges, low in zip(cells.edges, lows, strict=True)]
    return Boxes(along, cells.first, cells.edges[0].owner[cells.edges[0].low])


def _along(edges: Edges, low: float) -> Along:
    N, E, ends = len(edges.low), len(edges.at), edges.high < len(edges.at)
    rows = np.concatenate([np.arange(N), np.flatnonzero(ends)])
    signs = np.concatenate([np.ones(N), -np.ones(ends.sum())])
    to_boxes = csr_array((signs, (rows, np.concatenate([edges.low, edges.high[ends]]))), shape=(N, E))
    gap = np.maximum(low - edges.at, 0.0)
    return Along(edges, np.maximum(edges.at, low), gap[:, None] if gap.any() else None, to_boxes, to_boxes.T.tocsr())


def log_gain(to: Boxes, M: Sequence[Array], sd: Sequence[Array], log_p: Array, *, is_sloped: bool = True) -> Gain:
    """The logarithm of the sum over samples of the expected gain times a probability.

    Args:
        to: The boxes.
        M: Of each objective ``S x b`` means.
        sd: Likewise standard deviations.
        log_p: ``S x b`` logarithms of probabilities.
        is_sloped: Whether shares and derivatives are wanted; else there are none.
    """
    gain, is_deep = _linear(to, M, sd, log_p, is_sloped)
    if not is_deep.any():
        return gain
    deep_M, deep_sd = ([array[:, is_deep] for array in of] for of in (M, sd))
    again = _logarithmic(to, deep_M, deep_sd, log_p[:, is_deep])
    gain.value[is_deep] = again.value
    if is_sloped:
        pairs = zip((gain.share, *gain.by_M, *gain.by_sd), (again.share, *again.by_M, *again.by_sd), strict=True)
        for part, deep in pairs:
            part[:, is_deep] = deep
    return gain


class _Edge(NamedTuple):
    """An objective at its edges, ``E x b``, in multiples of exp(-c^2 / 2): psi, and its derivatives by M and sd."""

    c: Array
    psi: Array
    by_M: Array
    by_sd: Array


def _edge(of: Along, M: Array, sd: Array, is_shared: bool) -> _Edge:
    """Args: the edges, means, standard deviations, and whether a sample's edges share their multiple."""
    owner = of.edges.owner
    s = sd.take(owner, 0)
    z = M.take(owner, 0)
    z -= of.at[:, None]
    z /= s
    np.clip(z, -LIMIT, LIMIT, out=z)
    c = np.minimum(z.take(of.edges.first, 0) if is_shared else z, 0.0)
    phi, Phi, h = scaled_parts(z, c.take(owner, 0) if is_shared else c)
    h *= s
    if of.gap is None:
        return _Edge(c, h, Phi, phi)
    by_gap = of.gap * phi / s
    return _Edge(c, h + of.gap * Phi, Phi + by_gap, phi - z * by_gap)  # eq. 5.15


def _linear(to: Boxes, M: Sequence[Array], sd: Sequence[Array], log_p: Array, is_sloped: bool) -> tuple[Gain, Flags]:
    """The gain, and where it underflows."""
    edges = [_edge(*of, is_shared=True) for of in zip(to.along, M, sd, strict=True)]
    D = [np.maximum(of.to_boxes @ edge.psi, 0.0) for of, edge in zip(to.along, edges, strict=True)]  # eq. 5.16
    base = log_p - sum(0.5 * (edge.c * edge.c + LOG_2PI) for edge in edges)
    total = np.add.reduceat(_product(D), to.first, 0)
    with np.errstate(divide="ignore"):
        L = base + np.log(total)  # eq. 5.17
    value = _log_sum(L)
    is_deep = ~(value > base.max(0) - DEEP)
    if not is_sloped:
        return Gain(value, log_p, (), ()), is_deep
    safe = np.where(is_deep, 0.0, value)
    weight = np.exp(np.where(is_deep, 0.0, base - safe)).take(to.owner, 0)
    by_M, by_sd = [], []
    for j, (of, edge) in enumerate(zip(to.along, edges, strict=True)):
        by_psi = of.to_edges @ (weight * _product(D[:j] + D[j + 1 :]))
        by_M.append(np.add.reduceat(by_psi * edge.by_M, of.edges.first, 0))
        by_sd.append(np.add.reduceat(by_psi * edge.by_sd, of.edges.first, 0))
    return Gain(value, np.exp(L - safe), by_M, by_sd), is_deep


def _logarithmic(to: Boxes, M: Sequence[Array], sd: Sequence[Array], log_p: Array) -> Gain:
    """The gain where it underflows."""
    edges, log_psi, log_D, less = [], [], [], []
    for of, mean, s in zip(to.along, M, sd, strict=True):
        edge = _edge(of, mean, s, is_shared=False)
        edges.append(edge)
        log_psi.append(np.log(edge.psi) - 0.5 * (edge.c * edge.c + LOG_2PI))
        begins, ends = of.edges.low, of.edges.high
        padded = np.concatenate([log_psi[-1], np.full((1, len(log_p[0])), -np.inf)])
        less.append(np.minimum(padded[ends] - padded[begins], -LEAST))
        log_D.append(padded[begins] + np.log(-np.expm1(less[-1])))  # eq. 5.18
    log_T = sum(log_D) + log_p[to.owner]
    value = _log_sum(log_T)
    share = np.exp(log_T - value)
    by_M, by_sd = [], []
    for of, edge, x in zip(to.along, edges, less, strict=True):
        at_begin = share / -np.expm1(x)
        by_log_psi = np.zeros_like(edge.psi)
        np.add.at(by_log_psi, of.edges.low, at_begin)
        is_end = of.edges.high < len(by_log_psi)
        np.subtract.at(by_log_psi, of.edges.high[is_end], (at_begin * np.exp(x))[is_end])
        by_M.append(np.add.reduceat(by_log_psi * (edge.by_M / edge.psi), of.edges.first, 0))
        by_sd.append(np.add.reduceat(by_log_psi * (edge.by_sd / edge.psi), of.edges.first, 0))
    return Gain(value, np.add.reduceat(share, to.first, 0), by_M, by_sd)


def _product(of: Sequence[Array]) -> Array | float:
    product: Array | float = 1.0
    for factor in of:
        product = product * factor
    return product


def _log_sum(L: Array) -> Array:
    """The logarithm of the sum of the exponentials, over the first dimension; -inf where all are."""
    largest = L.max(0)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(L - safe).sum(0)) + safe
