"""State of a Gibbs chain: which observations are wrong at the moment, how noisy the right ones are, what they predict.

Of pure noise hundreds are doubtful, and a tenth of these change sides in every sweep. So nothing is done for a change
that is quadratic in n: the inverse is kept together with the updates of rank one that it lacks, which are carried out
`DELAYED` at a time as one product of matrices, and what a draw asks for (an error, a variance, the weights by which the
right ones predict a wrong one) is kept by itself.

Notation (no batch dimensions: a chain is one chain):
    K     n x n   covariance of the latent values
    r     n       observations less the mean
    s2    n       noise variances that the right ones have at the moment
    P     n x n   inverse of K + diag(s2) over the observations that are right at the moment, zero elsewhere
    al    n       P r
    p     n       diagonal of P
    C     k x n   updates that P lacks, f their factors: P + C' diag(f) C is the inverse
    W     k x n   one row a wrong observation: the weights by which the right ones predict it, zero for wrong ones;
                  S has its covariances, and v its latent variance given the right ones
    e, v          an observation less what the right ones (but itself) predict for it, and that prediction's variance,
                  without the observation's own noise

References:
    Hager (1989), Updating the inverse of a matrix, for the updates; Higham (2002), Accuracy and stability of numerical
    algorithms, section 14.5, for why they are made anew now and then.
"""

from collections.abc import Collection

import numpy as np
import torch

from robustbo.numerics.gp.leave_one_out import factor
from robustbo.numerics.linalg import lapack

DELAYED = 64  # updates that are carried out together
LEAST = 1e-12  # of an observation's own variance: rounding leaves no less of a prediction's
GROSS = 1e8  # squared error by its variance beyond which P r is computed anew: an update leaves half its digits


class Chain:
    """The sides of n observations, and what changes with them.

    Args:
        K: ``n x n`` covariance of the latent values.
        r: ``n`` observations less the mean.
        s2: ``n`` noise variances of the right ones to begin with.
        wrong: Those that are wrong to begin with.

    Attributes:
        is_wrong: Of each observation.
    """

    _wrong: list[int]
    _P: lapack.Array
    _al: lapack.Array
    _p: lapack.Array
    _W: lapack.Array
    _S: lapack.Array
    _v: lapack.Array

    def __init__(self, K: lapack.Array, r: lapack.Array, s2: lapack.Array, wrong: Collection[int] = ()) -> None:
        n = len(r)
        self._K, self._r, self._s2 = K, r, s2.copy()
        self.is_wrong = [i in wrong for i in range(n)]
        self._C, self._f, self._num_delayed = np.empty((DELAYED, n)), np.empty(DELAYED), 0
        self._renew()

    def leave_one_out(self, i: int) -> tuple[float, float]:
        """Observation i less what the right ones but itself predict, and the variance of that prediction."""
        least = LEAST * self._K[i, i]
        if self.is_wrong[i]:
            row = self._wrong.index(i)
            return float(self._r[i] - self._W[row] @ self._r), float(max(self._v[row], least))
        p = self._p[i]
        return float(self._al[i] / p), float(max(1 / p - self._s2[i], least))

    def move(self, i: int, s2: float | None) -> None:
        """Let an observation be right with some noise variance, or wrong (None)."""
        self._moves += 1
        if self._moves > len(self._r):
            self.is_wrong[i] = s2 is None
            self._s2[i] = self._s2[i] if s2 is None else s2
            self._renew()
        elif s2 is None:
            self._leave(i)
        elif self.is_wrong[i]:
            self._join(i, s2)
        else:
            self._change_noise(i, s2)

    def _change_noise(self, i: int, s2: float) -> None:
        """Give a right observation another noise variance."""
        more, self._s2[i] = s2 - self._s2[i], s2
        w, count = self._row(i), len(self._wrong)
        self._update(w, -more / (1 + more * w[i]), float(self._al[i]), self._W[:count, i].copy())

    def _row(self, i: int) -> lapack.Array:
        """Row of the inverse."""
        w = self._P[i] + (self._f[: self._num_delayed] * self._C[: self._num_delayed, i]) @ self._C[: self._num_delayed]
        w[self._wrong] = 0.0
        return w

    def _join(self, i: int, s2: float) -> None:
        """Move an observation from wrong to right."""
        (e, v), self._s2[i] = self.leave_one_out(i), s2
        row, last = self._wrong.index(i), len(self._wrong) - 1
        w = self._W[row].copy()
        w[i] = -1.0
        for rows in (self._wrong, self._W, self._S, self._v):
            rows[row] = rows[last]
        self._wrong.pop()
        self.is_wrong[i] = False
        self._update(w, 1 / (v + s2), -e, self._S[:last] @ w)

    def _leave(self, i: int) -> None:
        """Move an observation from right to wrong."""
        e, v = self.leave_one_out(i)
        w, count = self._row(i), len(self._wrong)
        self._update(w, -1 / w[i], self._al[i], self._W[:count, i].copy())
        self._W[:count, i] = self._al[i] = self._p[i] = 0.0
        if count == len(self._W):
            self._W, self._S, self._v = (np.concatenate([rows, rows]) for rows in (self._W, self._S, self._v))
        self._W[count], self._S[count], self._v[count] = -w / w[i], self._K[i], v
        self._W[count, i] = 0.0
        self._wrong.append(i)
        self.is_wrong[i] = True
        if e * e > GROSS * v:
            self._carry_out()
            self._al = self._P @ self._r

    def _update(self, w: lapack.Array, f: float, wr: float, Sw: lapack.Array) -> None:
        """Add f w w' to the inverse, where w' r is known, and the covariances of the wrong ones times w."""
        count = len(self._wrong)
        self._W[:count] += np.outer(Sw, f * w)
        self._v[:count] -= f * np.square(Sw)
        self._al += f * wr * w
        self._p += f * np.square(w)
        self._C[self._num_delayed], self._f[self._num_delayed] = w, f
        self._num_delayed += 1
        if self._num_delayed == DELAYED:
            self._carry_out()

    def _carry_out(self) -> None:
        """Update the inverse by all that it lacks."""
        C, f = self._C[: self._num_delayed], self._f[: self._num_delayed]
        self._P += (C.T * f) @ C
        self._P[self._wrong] = 0.0
        self._P[:, self._wrong] = 0.0
        self._num_delayed = 0

    def _renew(self) -> None:
        """Compute all anew, lest rounding add up."""
        right, self._wrong = (np.flatnonzero(np.equal(self.is_wrong, side)).tolist() for side in (False, True))
        self._P, self._moves, self._num_delayed, inner = np.zeros_like(self._K), 0, 0, np.ix_(right, right)
        Sg = lapack.on_diagonal(self._K[inner], self._s2[right])
        self._P[inner] = torch.cholesky_inverse(factor(torch.from_numpy(Sg)).L).numpy()
        self._al, self._p = self._P @ self._r, self._P.diagonal().copy()
        count, n = len(self._wrong), len(self._r)
        room = max(2 * count, DELAYED)
        self._S, self._W, self._v = np.zeros((room, n)), np.zeros((room, n)), np.zeros(room)
        self._S[:count] = self._K[self._wrong]
        self._W[:count] = self._S[:count] @ self._P
        self._v[:count] = self._K[self._wrong, self._wrong] - (self._W[:count] * self._S[:count]).sum(-1)
