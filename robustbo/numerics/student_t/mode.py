"""The mode of a Gaussian process's latent values under a Student-t likelihood.

The posterior of the latent values has several local maxima where an outlier may also be the truth. So the search begins
in several places, goes by expectation maximization (which never falls) to where Newton's method converges, and keeps
the highest. From the mode of a similar prior covariance Newton's method begins at once.

Notation (no batch dimensions): that of `laplace`.

References:
    docs/equations.md section 2.1; Rasmussen and Williams (2006), algorithm 3.1, with one W throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.laplace import Given, Noise, Place, given_by, place, residual
from robustbo.numerics.student_t.signed_posterior import Posterior, posterior

EM_STEPS, NEWTON_STEPS = 30, 100
CLOSE = 1e-10  # largest |a - g|, relative to the largest |g| where that exceeds 1
ENOUGH = 1e-7  # likewise: the evidence is as exact as can be then, and its gradient to that order
NEAR = 1e-3  # where expectation maximization hands over, likewise
FAR = 0.5  # likewise: a step of Newton's method that ends farther off did not begin near a mode
FLAT = 1e-4  # where Psi's rounding hides its rise, likewise: the residual is the judge then
LEVEL = 1e-13  # relative fall of Psi that may be rounding anywhere
HALVINGS = 30


class Mode(NamedTuple):
    """A local maximum.

    Attributes:
        at: Where it is.
        num_iter: Steps of Newton's method.
        converged: Whether the residual is as small as was wanted, or at most `ENOUGH`, below which rounding decides.
        signed: The posterior with the curvatures there.
    """

    at: Place
    num_iter: int
    converged: bool
    signed: Posterior

    @property
    def a(self) -> Tensor:
        """``n`` values of K^-1 f."""
        return torch.from_numpy(self.at.a)

    @property
    def Psi(self) -> float:
        """Its height."""
        return self.at.Psi


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
    at = likelihood.terms(given.y - f, given.s2, given.nu)
    signed = posterior(given.K, at.W)
    here = place(given, signed.solve(at.W * f + at.g)) if signed.is_maximum else None
    if here is None or not here.residual <= FAR:
        return place(given, em(given, f))
    return _again(given, here, signed, close)


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


def climb(given: Given, here: Place, close: float = CLOSE) -> Mode:
    """Newton's method, with the signed curvatures where that rises, with the positive ones where not."""
    steps = 0
    while True:
        signed = posterior(given.K, here.W)
        if steps == NEWTON_STEPS or (here.residual <= close and signed.is_maximum):
            break
        there = _step(given, here, signed, close) if signed.is_maximum else None
        if there is None and bool((here.W < 0).any()):
            there = _step(given, here, posterior(given.K, np.maximum(here.W, 0)), close)
        if there is None:
            break
        here, steps = there, steps + 1
    return Mode(here, steps, here.residual <= max(close, ENOUGH), signed)


def _step(given: Given, here: Place, factors: Posterior, close: float) -> Place | None:
    """Where a Newton step with these curvatures leads, shortened until Psi rises; None where it cannot."""
    move = factors.solve(here.fall)  # eq. 2.1.3
    share = 1.0
    for _ in range(HALVINGS):
        there = place(given, here.a + share * move)
        if _is_better(here, there):
            return _again(given, there, factors, close) if share == 1 else there
        share *= 0.5
    return None


def _again(given: Given, here: Place, factors: Posterior, close: float) -> Place:
    """After a full step more with the same factors, while they lead ten times nearer: the first makes it cubic.

    References:
        Potra and Ptak (1984), Nondiscrete induction and iterative processes.
    """
    while here.residual > close:
        before, there = here, place(given, here.a + factors.solve(here.fall))
        if not _is_better(before, there):
            break
        here = there
        if here.residual > 0.1 * before.residual:
            break
    return here


def _is_better(here: Place, there: Place) -> bool:
    fall = here.Psi - there.Psi
    is_hidden = here.residual < FLAT or fall <= LEVEL * abs(here.Psi)
    return fall < 0 or (is_hidden and there.residual < 0.9 * here.residual)


def _solve(given: Given, V: Array) -> Array:
    """(K + D(V))^-1 y."""
    C, _ = lapack.factor(lapack.on_diagonal(given.K.copy(), V))
    return lapack.solve(C, given.y)
