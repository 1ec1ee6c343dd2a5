"""Gibbs chains side by side, of few observations: which are odd, how noisy the right ones are, and hyperparameters.

As in `gibbs`, but for many chains at once, each with its hyperparameters: what takes time of few observations is the
interpreter, which is asked once for all chains. A single chain seldom goes from one explanation of the observations to
another (a smooth function and an error, or a rough one and none); chains that begin in all of them, and that draw the
hyperparameters from their prior too, do.

Notation (B chains):
    K     B x n x n   covariances of the latent values
    r     B x n       observations less the mean
    s2    B x n       noise variances
    P     B x n x n   inverse of K + diag(noise) over the observations that are right at the moment, zero elsewhere
    al    B x n       P r
    p     B x n       diagonal of P
    e, v  B           an observation less what the right ones (but itself) predict for it, and the variance of that

References:
    docs/equations.md section 19.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES
from robustbo.numerics.belief.gibbs import FAR, ODD, draw_rates_and_dofs
from robustbo.numerics.belief.predictions import SweepDraws
from robustbo.numerics.gp.wrong_density import HUGE
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
LEAST = 1e-12  # of an observation's own variance: rounding leaves no less of a prediction's
JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # of the largest variance, until there is a Cholesky factor


class Systems(NamedTuple):
    """Observations at the hyperparameters of each chain.

    Attributes:
        K: ``B x n x n`` covariances of the latent values.
        r: ``B x n`` observations less the mean.
        s2: ``B x n`` noise variances.
        log_slope: ``B x n`` logarithms of the factor by which densities of right observations are to be multiplied.
    """

    K: Array
    r: Array
    s2: Array
    log_slope: Array

    def replace_chains(self, systems: "Systems", is_replaced: NDArray[np.bool_]) -> None:
        """Put the systems of other hyperparameters in the place of those of some chains."""
        for present, proposed in zip(self, systems, strict=True):
            present[is_replaced] = proposed[is_replaced]


class Population:
    """The states of B chains, and what the right observations of each predict.

    Args:
        systems: Observations at each chain's hyperparameters.
        doubtful: For each chain the observations that are odd, or at least noisy, to begin with.
        rate: Mean of the prior rate of odd ones, in (0, 1).

    Attributes:
        systems: The systems, which a draw of hyperparameters changes.
        state: ``B x n`` integers: `gibbs.ODD`, or which of `densities.MULTIPLES` the noise variance is multiplied by.
        rate: ``B`` rates of odd observations.
        dof: ``B`` integers: which of `densities.DOFS` the noise has.
    """

    _P: Array
    _al: Array
    _p: Array
    _noise: Array

    def __init__(self, systems: Systems, doubtful: Sequence[Sequence[int]], rate: float) -> None:
        B, n = systems.r.shape
        self.systems, self._prior_rate = systems, rate
        self.state = np.zeros((B, n), dtype=np.intp)
        self.rate, self.dof = np.full(B, rate), np.zeros(B, dtype=np.intp)
        for b, rows in enumerate(doubtful):
            self.state[b, list(rows)] = ODD - 1
        self.renew()
        far = np.zeros((B, n), dtype=bool)
        for i in np.flatnonzero(self.state.any(0)).tolist():
            e, v = self._leave_one_out(i)
            e = np.minimum(np.abs(e), HUGE)
            far[:, i] = (self.state[:, i] > 0) & (e * e > FAR**2 * (v + MULTIPLES[-1] * systems.s2[:, i]))
        if far.any():
            self.state[far] = ODD
            self.renew()

    def processes(self) -> tuple[Array, Array]:
        """``B x n x n`` inverse covariances of the right observations and ``B x n`` products with all, copied."""
        return self._P.copy(), self._al.copy()

    @property
    def is_odd(self) -> NDArray[np.bool_]:
        """``B x n`` booleans."""
        return self.state == ODD

    def right_covariances(self, systems: Systems) -> Array:
        """``B x n x n`` covariances of the right observations in these states; odd ones are as if standardized."""
        is_odd = self.is_odd
        M = np.where(is_odd[:, :, None] | is_odd[:, None, :], 0.0, systems.K)
        M.reshape(len(M), -1)[:, :: M.shape[1] + 1] += np.where(is_odd, 1.0, self._noise_of(systems))
        return M

    def _noise_of(self, systems: Systems) -> Array:
        """``B x n`` noise variances of the right observations."""
        return systems.s2 * MULTIPLES[np.minimum(self.state, ODD - 1)]

    def renew(self) -> None:
        """Compute all anew: for other hyperparameters, and lest rounding add up."""
        C = cholesky_factors(self.right_covariances(self.systems))
        self._P, self._noise = np.ascontiguousarray(torch.cholesky_inverse(C)), self._noise_of(self.systems)
        diagonal = self._P.reshape(len(self._P), -1)[:, :: self._P.shape[1] + 1]
        diagonal[self.is_odd] = 0.0
        self._p = diagonal.copy()
        self._al = (self._P @ self.systems.r[:, :, None])[..., 0]

    def _leave_one_out(self, i: int) -> tuple[Array, Array]:
        """``B`` errors of what the right ones but itself predict for observation i, and variances without its noise."""
        is_odd = self.state[:, i] == ODD
        p = np.where(is_odd, 1.0, self._p[:, i])
        e, v = self._al[:, i] / p, 1 / p - self._noise[:, i]
        if is_odd.any():
            rows = np.flatnonzero(is_odd)
            k, r = self.systems.K[rows, i], self.systems.r[rows]
            weights = (self._P[rows] @ k[:, :, None])[..., 0]
            e[rows], v[rows] = r[:, i] - (weights * r).sum(1), k[:, i] - (weights * k).sum(1)
        return e, np.maximum(v, LEAST * self.systems.K[:, i, i])

    @lapack.quiet()  # the square of a gross error
    def sweep(self, log_odd: Array, may_be_odd: NDArray[np.bool_], most: int, rng: Generator) -> SweepDraws:
        """Draw the state of each observation in turn; return what was found of each.

        Args:
            log_odd: ``n`` log densities of the observations, if they are odd.
            may_be_odd: ``n`` booleans.
            most: How many may be odd at once.
            rng: Draws.
        """
        B, n = self.state.shape
        q, s2 = np.zeros((B, n)), self.systems.s2
        errors, latent, log_total = np.empty((3, n, B))
        log_shares, num_odd = LOG_SHARES[self.dof], self.is_odd.sum(1)
        log_odds = log_odd - self.systems.log_slope + (np.log(self.rate / (1 - self.rate)) + HALF_LOG_2PI)[:, None]
        heights = np.empty((B, ODD + 1))
        for i, u in zip(rng.permutation(n).tolist(), rng.random((n, B)), strict=True):
            e, v = self._leave_one_out(i)
            state = self.state[:, i]
            variances = v[:, None] + s2[:, i, None] * MULTIPLES
            heights[:, :ODD] = log_shares - 0.5 * (np.log(variances) + (e * e)[:, None] / variances)
            is_free = may_be_odd[i] & (num_odd - (state == ODD) < most)
            heights[:, ODD] = np.where(is_free, log_odds[:, i], -np.inf)
            highest = heights.max(1)
            weights = np.exp(heights - highest[:, None])
            below = weights.cumsum(1)
            q[:, i] = weights[:, ODD] / below[:, ODD]
            errors[i], latent[i], log_total[i] = e, v, highest + np.log(below[:, ODD])
            new_state = (u[:, None] * below[:, ODD:] > below[:, :ODD]).sum(1)
            if len(rows := np.flatnonzero(new_state != state)):
                num_odd[rows] += (new_state[rows] == ODD).astype(int) - (state[rows] == ODD)
                self._move(rows, i, new_state[rows], v[rows])
        return SweepDraws(q, self.systems.r - errors.T, latent.T, -log_total.T - self.systems.log_slope)  # eq. 19.7

    def _move(self, rows: NDArray[np.intp], i: int, state: NDArray[np.intp], v: Array) -> None:
        """Give observation i another state in some of the chains: an update of rank one of each inverse."""
        was_odd, is_odd = self.state[rows, i] == ODD, state == ODD
        s2 = self.systems.s2[rows, i] * MULTIPLES[np.minimum(state, ODD - 1)]
        P, more = self._P[rows], s2 - self._noise[rows, i]
        w = P[:, i].copy()
        f = np.where(is_odd, -1 / np.where(was_odd, 1.0, w[:, i]), -more / (1 + more * w[:, i]))
        if was_odd.any():
            w[was_odd] = -(P[was_odd] @ self.systems.K[rows[was_odd], i][:, :, None])[..., 0]
            w[was_odd, i], f[was_odd] = 1.0, 1 / (v + s2)[was_odd]
        P += (f[:, None] * w)[:, :, None] * w[:, None, :]
        P[is_odd, i], P[is_odd, :, i] = 0.0, 0.0
        self._P[rows], self.state[rows, i] = P, state
        self._p[rows] += f[:, None] * np.square(w)
        self._p[rows[is_odd], i] = 0.0
        self._noise[rows, i] = s2
        self._al[rows] = (P @ self.systems.r[rows][:, :, None])[..., 0]

    def draw_rate_and_tails(self, rng: Generator) -> None:
        """Draw the rate of odd observations and the degrees of freedom of the noise, given each one's state."""
        counts = np.stack([(self.state == k).sum(1) for k in range(ODD + 1)], 1)
        self.rate, self.dof = draw_rates_and_dofs(counts, self._prior_rate, rng)


def cholesky_factors(M: Array) -> torch.Tensor:
    """``B x n x n`` Cholesky factors, of matrices with a little more on the diagonal where there would be none."""
    A = torch.from_numpy(M)
    C, failed = torch.linalg.cholesky_ex(A)
    for jitter in JITTERS[1:]:
        if not failed.any():
            break
        more = jitter * A.diagonal(dim1=-2, dim2=-1).amax(-1)[:, None, None] * torch.eye(A.shape[-1], dtype=A.dtype)
        C, failed = torch.linalg.cholesky_ex(torch.where(failed[:, None, None] > 0, A + more, A))
    return C
