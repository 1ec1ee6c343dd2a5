"""State of a Gibbs chain: the observations that are wrong at the moment, and what the right ones predict for each.

Of pure noise hundreds are doubtful, and a tenth of these change sides in every sweep. So nothing is done for a change
that is quadratic in n: the inverse is kept together with the updates of rank one that it lacks, which are carried out
`DELAYED` at a time as one product of matrices, and what a draw asks for (an error, a variance, the weights by which the
right ones predict a wrong one) is kept by itself.

Notation (no batch dimensions: a chain is one chain):
    Sg    n x n   covariance of the observations without added variances
    r     n       observations less the mean
    P     n x n   inverse of Sg over the observations that are right at the moment, zero elsewhere
    al    n       P r
    p     n       diagonal of P
    C     k x n   updates that P lacks, f their factors: P + C' diag(f) C is the inverse
    W     k x n   one row a wrong observation: the weights by which the right ones predict it, zero for wrong ones;
                  S has its covariances, and v its variance given the right ones
    e, v          an observation less what the right ones (but itself) predict for it, and the variance of that

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
        Sg: ``n x n`` covariance of the observations, noise included.
        r: ``n`` observations less the mean.
        begin: Those that are wrong to begin with.

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

    def __init__(self, Sg: lapack.Array, r: lapack.Array, begin: Collection[int] = ()) -> None:
        n = len(r)
        self._Sg, self._r = Sg, r
        self.is_wrong = [i in begin for i in range(n)]
        self._C, self._f, self._num_delayed = np.empty((DELAYED, n)), np.empty(DELAYED), 0
        self._renew()

    def num_others_wrong(self, i: int) -> int:
        """Number of the other observations that are wrong."""
        return len(self._wrong) - self.is_wrong[i]

    def leave_one_out(self, i: int) -> tuple[float, float]:
        """Observation i less what the right ones but itself predict, and its variance."""
        least = LEAST * self._Sg[i, i]
        if self.is_wrong[i]:
            row = self._wrong.index(i)
            return float(self._r[i] - self._W[row] @ self._r), float(max(self._v[row], least))
        p = self._p[i]
        return float(self._al[i] / p), float(max(1 / p, least))

    def move(self, i: int) -> None:
        """Move an observation from right to wrong, or back."""
        self._moves += 1
        if self._moves > len(self._r):
            self.is_wrong[i] = not self.is_wrong[i]
            self._renew()
        elif self.is_wrong[i]:
            self._join(i)
        else:
            self._leave(i)

    def _join(self, i: int) -> None:
        """Move an observation from wrong to right."""
        e, v = self.leave_one_out(i)
        row, last = self._wrong.index(i), len(self._wrong) - 1
        w = self._W[row].copy()
        w[i] = -1.0
        for rows in (self._wrong, self._W, self._S, self._v):
            rows[row] = rows[last]
        self._wrong.pop()
        self.is_wrong[i] = False
        self._update(w, 1 / v, -e, self._S[:last] @ w)

    def _leave(self, i: int) -> None:
        """Move an observation from right to wrong."""
        e, v = self.leave_one_out(i)
        w = self._P[i] + (self._f[: self._num_delayed] * self._C[: self._num_delayed, i]) @ self._C[: self._num_delayed]
        w[self._wrong] = 0.0
        count = len(self._wrong)
        self._update(w, -1 / w[i], self._al[i], self._W[:count, i].copy())
        self._W[:count, i] = self._al[i] = self._p[i] = 0.0
        if count == len(self._W):
            self._W, self._S, self._v = (np.concatenate([rows, rows]) for rows in (self._W, self._S, self._v))
        self._W[count], self._S[count], self._v[count] = -w / w[i], self._Sg[i], v
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
        self._P, self._moves, self._num_delayed, inner = np.zeros_like(self._Sg), 0, 0, np.ix_(right, right)
        self._P[inner] = torch.cholesky_inverse(factor(torch.from_numpy(self._Sg[inner])).L).numpy()
        self._al, self._p = self._P @ self._r, self._P.diagonal().copy()
        count, n = len(self._wrong), len(self._r)
        room = max(2 * count, DELAYED)
        self._S, self._W, self._v = np.zeros((room, n)), np.zeros((room, n)), np.zeros(room)
        self._S[:count] = self._Sg[self._wrong]
        self._W[:count] = self._S[:count] @ self._P
        self._v[:count] = self._Sg[self._wrong, self._wrong] - (self._W[:count] * self._S[:count]).sum(-1)
