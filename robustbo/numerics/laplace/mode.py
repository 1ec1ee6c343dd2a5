"""The mode of a Gaussian process's latent values under a likelihood of single observations, by Newton's method.

The likelihood need not be log-concave: curvatures keep their signs where that rises, and only the positive ones count
where not. Where a search begins is each likelihood's own.

Notation (no batch dimensions):
    K    n x n   prior covariance of the latent values
    f    n       latent values less the mean, K a
    a    n       at the mode the likelihood's gradient g
    Psi          log p(y | f) - f' K^-1 f / 2, less what does not depend on f
    W    n       minus its second derivative

References:
    docs/equations.md section 2.1; Rasmussen and Williams (2006), algorithm 3.1, with one W throughout.
"""

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.laplace.signed_posterior import Posterior, posterior
from robustbo.numerics.linalg.lapack import Array

NEWTON_STEPS = 100
CLOSE = 1e-10  # largest |a - g|, relative to the largest |g| where that exceeds 1
ENOUGH = 1e-7  # likewise: the evidence is as exact as can be then, and its gradient to that order
FLAT = 1e-4  # where Psi's rounding hides its rise, likewise: the residual is the judge then
LEVEL = 1e-13  # relative fall of Psi that may be rounding anywhere
HALVINGS = 30


class Terms(Protocol):
    """What a likelihood says of ``n`` latent values.

    Attributes:
        log_kernel: Sum over the observations of what depends on f.
        g: ``n`` gradients.
        W: ``n`` curvatures.
    """

    @property
    def log_kernel(self) -> float: ...

    @property
    def g(self) -> Array: ...

    @property
    def W(self) -> Array: ...


class Given(Protocol):
    """What stays fixed in a search for the mode: a prior covariance and a likelihood."""

    @property
    def K(self) -> Array: ...

    def terms(self, f: Array) -> Terms:
        """The likelihood at ``n`` latent values less the mean."""


class Place(NamedTuple):
    """Some a, with what is known there.

    Attributes:
        a: ``n`` values.
        f: ``n`` values of K a.
        fall: ``n`` values of g - a.
        W: ``n`` curvatures.
        Psi: Height.
        residual: Largest |a - g|, relative to the largest |g| where that exceeds 1.
    """

    a: Array
    f: Array
    fall: Array
    W: Array
    Psi: float
    residual: float


def place(given: Given, a: Array) -> Place:
    """What is known at a."""
    f = given.K @ a
    found = given.terms(f)
    fall = found.g - a
    return Place(a, f, fall, found.W, found.log_kernel - 0.5 * float(a @ f), residual(fall, found.g))  # eq. 2.1.1


def residual(fall: Array, g: Array) -> float:
    """Largest |a - g|, relative to the largest |g| where that exceeds 1."""
    return float(np.abs(fall).max()) / max(float(np.abs(g).max()), 1.0)


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
            return again(given, there, factors, close) if share == 1 else there
        share *= 0.5
    return None


def again(given: Given, here: Place, factors: Posterior, close: float) -> Place:
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
