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
from robustbo.numerics.student_t.laplace import ModePoint, ModeProblem, Noise, mode_point, mode_problem, residual
from robustbo.numerics.student_t.signed_posterior import SignedPosterior, signed_posterior

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

    at: ModePoint
    num_iter: int
    converged: bool
    signed: SignedPosterior

    @property
    def a(self) -> Tensor:
        """``n`` values of K^-1 f."""
        return torch.from_numpy(self.at.a)

    @property
    def Psi(self) -> float:
        """Height of the mode."""
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
    problem = mode_problem(K, y, noise)
    modes = [climb(problem, begin(problem, f.numpy(), em_steps, close), close) for f in starts]
    return max(modes, key=lambda mode: (mode.converged, mode.Psi))


def cold_starts(K: Tensor, y: Tensor, noise: Noise) -> list[Tensor]:
    """Latent values at which a cold search begins: 0, and a Gaussian process's posterior mean."""
    problem = mode_problem(K, y, noise)
    mean = problem.K @ _solve(problem, np.broadcast_to(problem.s2, problem.y.shape))
    return [torch.zeros_like(y), torch.from_numpy(mean)]


def begin(problem: ModeProblem, f: Array, em_steps: int, close: float = CLOSE) -> ModePoint:
    """Point to climb from: by expectation maximization, or by a Newton step from f where ``em_steps`` is 0."""
    if em_steps:
        return mode_point(problem, em(problem, f, em_steps))
    at = likelihood.terms(problem.y - f, problem.s2, problem.nu)
    signed = signed_posterior(problem.K, at.W)
    point = mode_point(problem, signed.solve(at.W * f + at.g)) if signed.is_maximum else None
    if point is None or not point.residual <= FAR:
        return mode_point(problem, em(problem, f))
    return _again(problem, point, signed, close)


def em(problem: ModeProblem, f: Array, steps: int = EM_STEPS) -> Array:
    """``n`` values of a after expectation maximization from f: to where Newton's method takes over."""
    K, y, s2, nu = problem
    V = likelihood.em_variance(y - f, s2, nu)
    for _ in range(steps):
        a = _solve(problem, V)  # eq. 2.1.2
        terms = likelihood.terms(y - K @ a, s2, nu)
        if residual(terms.g - a, terms.g) < NEAR:
            break
        V = terms.V
    return a


def climb(problem: ModeProblem, current: ModePoint, close: float = CLOSE) -> Mode:
    """Newton's method, with the signed curvatures where that rises, with the positive ones where not."""
    steps = 0
    while True:
        signed = signed_posterior(problem.K, current.W)
        if steps == NEWTON_STEPS or (current.residual <= close and signed.is_maximum):
            break
        trial = _step(problem, current, signed, close) if signed.is_maximum else None
        if trial is None and bool((current.W < 0).any()):
            trial = _step(problem, current, signed_posterior(problem.K, np.maximum(current.W, 0)), close)
        if trial is None:
            break
        current, steps = trial, steps + 1
    return Mode(current, steps, current.residual <= max(close, ENOUGH), signed)


def _step(problem: ModeProblem, current: ModePoint, factors: SignedPosterior, close: float) -> ModePoint | None:
    """Take a Newton step with these curvatures, shortened until Psi rises; None where it cannot."""
    move = factors.solve(current.fall)  # eq. 2.1.3
    share = 1.0
    for _ in range(HALVINGS):
        trial = mode_point(problem, current.a + share * move)
        if _is_better(current, trial):
            return _again(problem, trial, factors, close) if share == 1 else trial
        share *= 0.5
    return None


def _again(problem: ModeProblem, current: ModePoint, factors: SignedPosterior, close: float) -> ModePoint:
    """Take further steps with the same factors, while they lead ten times nearer: the first makes it cubic.

    References:
        Potra and Ptak (1984), Nondiscrete induction and iterative processes.
    """
    while current.residual > close:
        before, trial = current, mode_point(problem, current.a + factors.solve(current.fall))
        if not _is_better(before, trial):
            break
        current = trial
        if current.residual > 0.1 * before.residual:
            break
    return current


def _is_better(current: ModePoint, trial: ModePoint) -> bool:
    fall = current.Psi - trial.Psi
    is_hidden = current.residual < FLAT or fall <= LEVEL * abs(current.Psi)
    return fall < 0 or (is_hidden and trial.residual < 0.9 * current.residual)


def _solve(problem: ModeProblem, V: Array) -> Array:
    """(K + D(V))^-1 y."""
    C, _ = lapack.factor(lapack.on_diagonal(problem.K.copy(), V))
    return lapack.solve(C, problem.y)
