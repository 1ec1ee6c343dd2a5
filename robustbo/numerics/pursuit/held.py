"""Supports at hyperparameters that are held: one factorization, then every support costs only its own size.

With C0 = K + diag(s2) inverted once, a support S with added variances R = D(rho_S) changes what is known by the inverse
T of (R^-1 + C0^-1_SS) alone (Woodbury). What the members say is kept apart from what the others do: however gross a
value and its variance are, nothing cancels.

Notation (no batch dimensions: a search is one search):
    P0    n x n  (K + diag(s2))^-1
    S     k      the support
    B     n x 2  [y, 1]; Bo without the rows of S, Bs k x 2 with these alone
    A0    n x 2  P0 Bo
    A     n x 2  P B
    T     k x k  (R^-1 + P0_SS)^-1
    W     n x k  P0_:S T
    e, v  n      leave-one-out errors and variances, the observation's own added variance removed

Cost: O(n^3) once, then O(n k^2 + k^3) a support.

References:
    docs/equations.md section 6; Hager (1989), Updating the inverse of a matrix.
"""

import math
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.errors import NumericalError
from robustbo.numerics.gp.leave_one_out import LeaveOneOut
from robustbo.numerics.gp.log_posterior import Model, log_posterior
from robustbo.numerics.gp.outlier_gain import GroupErrors, groups_left_out
from robustbo.numerics.gp.parameters import log_prior
from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.walk import largest

Indices = NDArray[np.intp]

ROUNDS = 50  # of changes of a support; few are made
JOIN_SHARE = 100  # one observation in so many joins at once: a gross value spoils the predictions of its neighbours
LEAST = 1e-8  # of a variance, which each of a support has at least
SETTLED = 1e-3  # relative change of every added variance below which they are at their best


class Supported(NamedTuple):
    """A support at held hyperparameters.

    Attributes:
        support: The sorted groups.
        members: ``k`` sorted indices of all of theirs.
        rho: ``k`` added variances.
        e: ``n`` leave-one-out errors.
        v: ``n`` leave-one-out variances.
        F: Log posterior density.
        L: Log marginal likelihood.
        m: Constant mean.
        al: ``n`` values of P (y - m).
    """

    support: tuple[int, ...]
    members: Indices
    rho: Array
    e: Array
    v: Array
    F: float
    L: float
    m: float
    al: Array


class Held:
    """A model's observations at held hyperparameters.

    Args:
        model: What stays fixed.
        theta: ``p`` hyperparameters.

    Raises:
        NumericalError: If the covariance is not positive definite.
    """

    def __init__(self, model: Model, theta: Tensor) -> None:
        value = log_posterior(model, theta, torch.zeros_like(model.y))
        if not value.evidence.converged:
            raise NumericalError("the covariance must be positive definite at the hyperparameters that are held")
        found, self._groups, self._y = value.evidence, model.groups, value.y.numpy()
        self._P0 = found.P.numpy()
        self._diagonal = self._P0.diagonal().copy()
        self._B = np.stack([self._y, np.ones_like(self._y)], axis=1)
        self._log_det = found.log_det.item()
        p = len(model.covariance.bounds)
        self._log_prior = value.covariance.log_prior + log_prior(model.blocks, theta.tolist()[p:])
        self._on_joining = np.zeros_like(self._y)  # by how much the warp's Jacobian rises
        if value.warp is not None:
            self._log_prior += float(value.warp.log_slope.sum())
            self._on_joining = value.warp.log_secant - value.warp.log_slope
        self._open = np.ones(len(self._y)) if model.cleared is None else 1.0 - model.cleared.numpy()

    @lapack.quiet()  # what is said of members is said again
    def at(self, members: Indices, rho: Array) -> Supported:
        """What is known with a support.

        Args:
            members: ``k`` sorted indices.
            rho: ``k`` positive added variances.
        """
        n = len(self._y)
        columns, (T, log_det) = self._P0[:, members], self._inverse(members, rho)
        W, others, own = columns @ T, self._B.copy(), self._B[members] / rho[:, None]
        others[members] = 0.0
        A0 = self._P0 @ others
        A = A0 + W @ (own - A0[members])  # eq. 6.13
        A[members] = on_members = own + (T @ (A0[members] - own)) / rho[:, None]  # eq. 6.14
        G = self._B.T @ A
        m = G[0, 1] / G[1, 1]  # eq. 4.9
        al = A[:, 0] - m * A[:, 1]
        v = 1 / (self._diagonal - np.vecdot(W, columns))
        e = al * v  # eq. 6.2
        left = 1 - T.diagonal() / rho
        v[members] = T.diagonal() / left  # eq. 6.15
        e[members] = (on_members[:, 0] - m * on_members[:, 1]) * rho / left
        L = -0.5 * (G[0, 0] - m * G[0, 1] + self._log_det + log_det + n * math.log(2 * math.pi))  # eq. 6.1
        F, support = L + self._log_prior + self._on_joining[members].sum(), self._groups.of(members.tolist())
        return Supported(support, members, rho, e, v, float(F), float(L), float(m), al)

    def _inverse(self, members: Indices, rho: Array) -> tuple[Array, float]:
        """T, and by how much the support raises the logarithm of the determinant."""
        if not len(members):
            return np.zeros((0, 0)), 0.0
        C, _ = lapack.factor(lapack.on_diagonal(self._P0[np.ix_(members, members)], 1 / rho))
        more = float(np.log(rho).sum() + 2 * np.log(C.diagonal()).sum())  # eq. 6.13
        return lapack.inverse(C), more

    def known(self, found: Supported) -> PredictionCache:
        """What predictions with a support need."""
        columns, (T, _) = self._P0[:, found.members], self._inverse(found.members, found.rho)
        P = self._P0 - (columns @ T) @ columns.T  # eq. 6.13
        P += P.T.copy()
        P *= 0.5
        return PredictionCache(*map(lapack.as_tensor, (found.m, P, found.al, found.e, found.v)))

    def beginning(self, rho: Array) -> Supported:
        """The support of the groups of which any has an added variance among ``n``."""
        members = self._members(self._groups.of(np.flatnonzero(rho * self._open).tolist()))
        return self.at(members, np.maximum(rho[members], LEAST))

    def left_out(self, here: Supported) -> GroupErrors:
        """Each group left out at once; errors are not held against observations that are cleared."""
        e, v = map(torch.from_numpy, (here.e * self._open, here.v))
        return groups_left_out(e, v, self._groups, partial(self._together, here))

    def _together(self, here: Supported, group: Tensor) -> LeaveOneOut:
        rows, own = group.numpy(), np.zeros_like(self._y)
        own[here.members] = here.rho
        rest = ~np.isin(here.members, rows)
        others, (T, _) = here.members[rest], self._inverse(here.members[rest], here.rho[rest])
        columns = self._P0[np.ix_(rows, others)]
        C, _ = lapack.factor(self._P0[np.ix_(rows, rows)] - columns @ T @ columns.T)
        V = lapack.inverse(C)
        e = V @ here.al[rows] + own[rows] * here.al[rows]  # eq. 6.20
        return LeaveOneOut(*map(torch.from_numpy, (e * self._open[rows], V)))

    def settle(self, begin: Supported, penalty: Penalty, known: int | None = None) -> Supported:
        """The support of the highest score that changes lead to, from one support on.

        Every member takes its best variance; those that gain no more than they must pay leave, and of the others that
        would gain more, the grossest join.

        Args:
            begin: Where to begin.
            penalty: Of a support.
            known: Its size; those that gain most are taken then.
        """
        best = here = begin
        seen = set[bytes]()
        for _ in range(ROUNDS):
            e, v, gains = (each.numpy() for each in self.left_out(here))
            support = self._next(here, gains, penalty) if known is None else largest(gains.tolist(), known)
            members = self._members(support)
            e[here.members], v[here.members] = here.e[here.members], here.v[here.members]
            rho = np.maximum(np.square(e[members]) - v[members], LEAST * v[members])  # eq. 6.3
            if np.array_equal(members, here.members):
                if np.all(np.abs(rho - here.rho) <= SETTLED * here.rho):
                    break
            elif members.tobytes() in seen:
                break  # it goes round
            seen.add(members.tobytes())
            here = self.at(members, rho)
            best = max(best, here, key=lambda each: score(each, penalty))
        return best

    def _members(self, support: Collection[int]) -> Indices:
        return np.array(self._groups.members(support), dtype=np.intp)

    def _next(self, here: Supported, gains: Array, penalty: Penalty) -> Collection[int]:
        """The groups that go on being in the support, and those that join."""
        n, of_one = self._groups.count(len(gains)), penalty.of_one(here.support)
        is_in = np.zeros(len(gains), dtype=bool)
        is_in[list(here.support)] = True
        pays = gains > np.array([of_one(i) for i in range(len(gains))])
        inside, ready = np.flatnonzero(is_in & pays), np.flatnonzero(~is_in & pays)
        staying = inside[_falling(gains[inside])[: n // 2]]
        room = min(max(1, n // JOIN_SHARE), n // 2 - len(staying))
        return [*staying.tolist(), *ready[_falling(gains[ready])[:room]].tolist()]


def _falling(gains: Array) -> Indices:
    return np.argsort(-gains, kind="stable")


def score(found: Supported, penalty: Penalty) -> float:
    """Log posterior density minus the penalty of the support."""
    return found.F - penalty.total(found.support)  # eq. 6.12
