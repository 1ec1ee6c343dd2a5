"""Gibbs chains side by side, of few observations: which are odd, how noisy the right ones are, and hyperparameters.

As in `gibbs`, but for many chains, each with its hyperparameters. A single chain seldom goes from one explanation of
the observations to another (a smooth function and an error, or a rough one and none); chains that begin in all of them,
and that draw the hyperparameters from their prior too, do.

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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from robustbo.numerics.belief.dense_chain import DenseChain
from robustbo.numerics.belief.densities import LOG_SHARES, MULTIPLES, silent_share
from robustbo.numerics.belief.gibbs import FAR, draw_rates_and_dofs
from robustbo.numerics.belief.predictions import SweepDraws
from robustbo.numerics.belief.sweep import ODD, Conditions, sweep_chain
from robustbo.numerics.gp.wrong_density import HUGE
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

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
        """Put the systems of other hyperparameters in place of those of some chains."""
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
        state: ``B x n`` integers: `sweep.ODD`, or which of `densities.MULTIPLES` the noise variance is multiplied by.
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
        far = [(b, i) for b, rows in enumerate(doubtful) for i in rows if self._is_far(b, i)]
        if far:
            self.state[tuple(np.array(far).T)] = ODD
            self.renew()

    def _is_far(self, b: int, i: int) -> bool:
        """True if a noisy observation is far from what the others predict."""
        e, v = self.chain(b).leave_one_out(i)
        return min(abs(e), HUGE) ** 2 > FAR**2 * (v + MULTIPLES[-1] * self.systems.s2[b, i])

    @property
    def noise(self) -> Array:
        """``B x n`` noise variances that the observations have, or had when they were right."""
        return self._noise

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

    def chain(self, b: int) -> DenseChain:
        """One of the chains, which changes with the population, and the population with it."""
        systems = self.systems
        return DenseChain(
            systems.K[b], systems.r[b], self._noise[b], self.is_odd[b], self._P[b], self._al[b], self._p[b]
        )

    @lapack.quiet()  # the square of a gross error
    def sweep(self, log_odd: Array, doubt: NDArray[np.intp], most: int, rng: Generator) -> SweepDraws:
        """Draw the state of each observation in turn; return what was found of each.

        Args:
            log_odd: ``n`` log densities of the observations, if they are odd.
            doubt: ``n`` integers, see `sweep.Conditions`.
            most: How many may be odd at once.
            rng: Draws.
        """
        B, n = self.state.shape
        order, u = rng.permutation(n).tolist(), rng.random((n, B)).T.tolist()
        log_odds = log_odd - self.systems.log_slope + np.log(self.rate / (1 - self.rate))[:, None]
        swept, silent = [], silent_share(self._prior_rate)
        for b in range(B):
            conditions = Conditions(self.systems.s2[b], LOG_SHARES[self.dof[b]], log_odds[b], doubt, most, silent)
            swept.append(sweep_chain(self.chain(b), self.state[b], conditions, order, u[b]))
        q, errors, latent, log_total = map(np.stack, zip(*swept, strict=True))
        return SweepDraws(q, self.systems.r - errors, latent, -log_total - self.systems.log_slope)  # eq. 19.7

    def draw_rate_and_tails(self, doubt: NDArray[np.intp], rng: Generator) -> None:
        """Draw the rate of odd observations and the degrees of freedom of the noise, given each one's state."""
        self.rate, self.dof = draw_rates_and_dofs(self.state, doubt, self._prior_rate, rng)


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
