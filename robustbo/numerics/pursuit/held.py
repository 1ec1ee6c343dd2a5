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
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import GroupErrors, group_variance, groups_left_out
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


class SupportState(NamedTuple):
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


class FixedHyperparameters:
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
        evidence, self._groups, self._y = value.evidence, model.groups, value.y.numpy()
        self._P0, self._K, self._s2 = evidence.P.numpy(), value.covariance.K.numpy(), value.s2.numpy()
        self._diagonal = self._P0.diagonal().copy()
        self._B = np.stack([self._y, np.ones_like(self._y)], axis=1)
        self._log_det = evidence.log_det.item()
        p = len(model.covariance.bounds)
        self._log_prior = value.covariance.log_prior + log_prior(model.blocks, theta.tolist()[p:])
        self._on_joining = np.zeros_like(self._y)  # by how much the warp's Jacobian rises
        if value.warp is not None:
            self._log_prior += float(value.warp.log_slope.sum())
            self._on_joining = value.warp.log_secant - value.warp.log_slope
        self._open = np.ones(len(self._y)) if model.cleared is None else 1.0 - model.cleared.numpy()

    @lapack.quiet()  # what is said of members is said again
    def at(self, members: Indices, rho: Array) -> SupportState:
        """State with a support: errors, log posterior density, mean.

        Args:
            members: ``k`` sorted indices.
            rho: ``k`` positive added variances.
        """
        n = len(self._y)
        columns, (T, log_det) = self._P0[:, members], self._inverse(members, rho)
        W, outside, own = columns @ T, self._B.copy(), self._B[members] / rho[:, None]
        outside[members] = 0.0
        A0 = self._P0 @ outside
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
        return SupportState(support, members, rho, e, v, float(F), float(L), float(m), al)

    def _inverse(self, members: Indices, rho: Array) -> tuple[Array, float]:
        """T, and by how much the support raises the logarithm of the determinant."""
        if not len(members):
            return np.zeros((0, 0)), 0.0
        C, _ = lapack.factor(lapack.on_diagonal(self._P0[np.ix_(members, members)], 1 / rho))
        more = float(np.log(rho).sum() + 2 * np.log(C.diagonal()).sum())  # eq. 6.13
        return lapack.inverse(C), more

    def prediction_cache(self, state: SupportState) -> PredictionCache:
        """Prediction cache with a support."""
        N = self._s2.copy()
        N[state.members] += state.rho
        C, _ = lapack.factor(lapack.on_diagonal(self._K.copy(), N))
        root = lapack.inverse_root(torch.from_numpy(C))
        al = root.mT @ (root @ torch.from_numpy(self._y - state.m))
        return PredictionCache(lapack.as_tensor(state.m), root, al, *map(torch.from_numpy, (state.e, state.v)))

    def initial_state(self, rho: Array) -> SupportState:
        """The support of the groups of which any has an added variance among ``n``."""
        members = self._members(self._groups.of(np.flatnonzero(rho * self._open).tolist()))
        return self.at(members, np.maximum(rho[members], LEAST))

    def group_errors(self, state: SupportState) -> GroupErrors:
        """Each group left out at once; errors are not held against observations that are cleared."""
        e, v = map(torch.from_numpy, (state.e * self._open, state.v))
        return groups_left_out(e, v, self._groups, partial(self._together, state))

    def _together(self, state: SupportState, group: Tensor) -> LeaveOneOut:
        rows, own = group.numpy(), np.zeros_like(self._y)
        own[state.members] = state.rho
        rest = ~np.isin(state.members, rows)
        outside, (T, _) = state.members[rest], self._inverse(state.members[rest], state.rho[rest])
        columns = self._P0[np.ix_(rows, outside)]
        C, _ = lapack.factor(self._P0[np.ix_(rows, rows)] - columns @ T @ columns.T)
        V = lapack.inverse(C)
        e = V @ state.al[rows] + own[rows] * state.al[rows]  # eq. 6.20
        return LeaveOneOut(*map(torch.from_numpy, (e * self._open[rows], V)))

    def settle(self, begin: SupportState, penalty: Penalty, fixed_size: int | None = None) -> SupportState:
        """The support of the highest score that changes lead to, from one support on.

        Every group takes its best variance; those that gain no more than they must pay leave, and of the others that
        would gain more, the grossest join.

        Args:
            begin: Where to begin.
            penalty: Of a support.
            fixed_size: Its size; those that gain most are taken then.
        """
        best = state = begin
        visited = set[bytes]()
        for _ in range(ROUNDS):
            now, (e, v, gains) = np.zeros_like(self._y), (part.numpy() for part in self.group_errors(state))
            support = self._next(state, gains, penalty) if fixed_size is None else largest(gains.tolist(), fixed_size)
            members = self._members(support)
            e[state.members], v[state.members] = state.e[state.members], state.v[state.members]
            now[state.members] = state.rho
            e_all, v_all, rho_all = map(torch.from_numpy, (e, v, now))
            best_variances = group_variance(e_all, v_all, self._groups, rho_all).numpy()
            rho = np.maximum(best_variances[members], LEAST * v[members])
            if np.array_equal(members, state.members):
                if np.all(np.abs(rho - state.rho) <= SETTLED * state.rho):
                    break
            elif members.tobytes() in visited:
                break  # it goes round
            visited.add(members.tobytes())
            state = self.at(members, rho)
            best = max(best, state, key=lambda candidate: score(candidate, penalty))
        return best

    def _members(self, support: Collection[int]) -> Indices:
        return np.array(self._groups.members(support), dtype=np.intp)

    def _next(self, state: SupportState, gains: Array, penalty: Penalty) -> Collection[int]:
        """The groups that go on being in the support, and those that join."""
        n = self._groups.count(len(gains))
        is_in = np.zeros(len(gains), dtype=bool)
        is_in[list(state.support)] = True
        pays = gains > penalty.prices(state.support, len(gains))
        inside, ready = np.flatnonzero(is_in & pays), np.flatnonzero(~is_in & pays)
        staying = inside[_order_by_gain(gains[inside])[: n // 2]]
        room = min(max(1, n // JOIN_SHARE), n // 2 - len(staying))
        return [*staying.tolist(), *ready[_order_by_gain(gains[ready])[:room]].tolist()]


def _order_by_gain(gains: Array) -> Indices:
    return np.argsort(-gains, kind="stable")


def score(state: SupportState, penalty: Penalty) -> float:
    """Log posterior density minus the penalty of the support."""
    return state.F - penalty.total(state.support)  # eq. 6.12
