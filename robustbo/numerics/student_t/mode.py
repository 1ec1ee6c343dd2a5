"""The mode of a Gaussian process's latent values under a Student-t likelihood.

The posterior of the latent values has several local maxima where an outlier may also be the truth. So the search begins
in several places, goes by expectation maximization (which never falls) to where Newton's method converges, and keeps
the highest. From the mode of a similar prior covariance Newton's method begins at once.

Notation (no batch dimensions): that of `laplace`.

References:
    docs/equations.md section 2.1; Rasmussen and Williams (2006), algorithm 3.1, with one W throughout.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.laplace.mode import CLOSE, Mode, Place, again, climb, place, residual
from robustbo.numerics.laplace.signed_posterior import posterior
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.laplace import Given, Noise, given_by

EM_STEPS = 30
NEAR = 1e-3  # residual where expectation maximization hands over
FAR = 0.5  # likewise: a step of Newton's method that ends farther off did not begin near a mode


def find_mode(
    K: Tensor, y: Tensor, noise: Noise, starts: Sequence[Tensor], *, em_steps: int = EM_STEPS, close: float = CLOSE
) -> Mode:
    """The highest of the local maxima that the starts lead to.

    Args:
        K: ``n x n`` prior covariance of the latent values.
        y: ``n`` observations, less the mean.
        noise: The likelihood's parameters.
        starts: Latent values to begin with, less the mean, ``n`` each; see `cold_starts`.
        em_steps: Steps of expectation maximization at most; 0 from the mode of a similar K.
        close: The residual to be reached.
    """
    given = given_by(K, y, noise)
    found = [climb(given, begin(given, f.numpy(), em_steps, close), close) for f in starts]
    return max(found, key=lambda mode: (mode.converged, mode.Psi))


def cold_starts(K: Tensor, y: Tensor, noise: Noise) -> list[Tensor]:
    """Where a search begins that knows nothing: at 0, and at a Gaussian process's posterior mean."""
    given = given_by(K, y, noise)
    mean = given.K @ _solve(given, np.broadcast_to(given.s2, given.y.shape))
    return [torch.zeros_like(y), torch.from_numpy(mean)]


def begin(given: Given, f: Array, em_steps: int, close: float = CLOSE) -> Place:
    """Where to climb from: a step of Newton's method from f if none of the other kind is wanted."""
    if em_steps:
        return place(given, em(given, f, em_steps))
    at = given.terms(f)
    signed = posterior(given.K, at.W)
    here = place(given, signed.solve(at.W * f + at.g)) if signed.is_maximum else None
    if here is None or not here.residual <= FAR:
        return place(given, em(given, f))
    return again(given, here, signed, close)


def em(given: Given, f: Array, steps: int = EM_STEPS) -> Array:
    """``n`` values of a after expectation maximization from f: to where Newton's method takes over."""
    K, y, s2, nu = given
    V = likelihood.em_variance(y - f, s2, nu)
    for _ in range(steps):
        a = _solve(given, V)  # eq. 2.1.2
        found = likelihood.terms(y - K @ a, s2, nu)
        if residual(found.g - a, found.g) < NEAR:
            break
        V = found.V
    return a


def _solve(given: Given, V: Array) -> Array:
    """(K + D(V))^-1 y."""
    C, _ = lapack.factor(lapack.on_diagonal(given.K.copy(), V))
    return lapack.solve(C, given.y)
