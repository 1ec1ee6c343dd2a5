"""The mode of a Gaussian process's latent values under a Student-t likelihood.

The posterior of the latent values has several local maxima where an outlier may also be the truth. So the search begins
in several places, goes by expectation maximization (which never falls) to where Newton's method converges, and keeps
the highest.

Notation (no batch dimensions), beside that of `laplace`:
    Psi        log p(y | f) - f' K^-1 f / 2, less what does not depend on f

References:
    equations.md section 2.1; Rasmussen and Williams (2006), algorithm 3.1, with one W throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics import student_t_likelihood as likelihood
from robustbo.numerics.laplace import Noise, Posterior, posterior

EM_STEPS, NEWTON_STEPS = 30, 100
CLOSE = 1e-10  # largest |a - g|, relative to the largest |g| where that exceeds 1
ENOUGH = 1e-7  # likewise: the evidence is as exact as can be then, and its gradient to that order
NEAR = 1e-3  # where expectation maximization hands over, likewise
FLAT = 1e-4  # where Psi's rounding hides its rise, likewise: the residual is the judge then
HALVINGS = 30


class Mode(NamedTuple):
    """A local maximum.

    Attributes:
        a: ``n`` values of K^-1 f.
        Psi: Its height.
        residual: Largest |a - g|, relative to the largest |g| where that exceeds 1.
        num_iter: Steps of Newton's method.
        converged: Whether the residual is at most `ENOUGH`, below which rounding decides.
        signed: The posterior with the curvatures there.
    """

    a: Tensor
    Psi: float
    residual: float
    num_iter: int
    converged: bool
    signed: Posterior


def find_mode(
    K: Tensor, y: Tensor, noise: Noise, starts: Sequence[Tensor], *, em_steps: int = EM_STEPS, close: float = CLOSE
) -> Mode:
    """The highest of the local maxima that the starts lead to.

    Args:
        K: ``n x n`` prior covariance of the latent values.
        y: ``n`` observations, less the mean.
        noise: The likelihood's parameters.
        starts: Latent values to begin with, less the mean, ``n`` each; see `cold_starts`.
        em_steps: Steps of expectation maximization at most, 1 at least; few will do from the mode of a similar K.
        close: The residual to be reached.
    """
    found = [climb(K, y, noise, em(K, y, noise, f, em_steps), close) for f in starts]
    return max(found, key=lambda mode: (mode.converged, mode.Psi))


def cold_starts(K: Tensor, y: Tensor, noise: Noise) -> list[Tensor]:
    """Where a search begins that knows nothing: at 0, and at a Gaussian process's posterior mean."""
    return [torch.zeros_like(y), K @ _solve(K, noise.s2.expand_as(y), y)]


def em(K: Tensor, y: Tensor, noise: Noise, f: Tensor, steps: int = EM_STEPS) -> Tensor:
    """``n`` values of a after expectation maximization from f: to where Newton's method takes over."""
    V = likelihood.em_variance(y - f, *noise)
    for _ in range(steps):
        a = _solve(K, V, y)
        found = likelihood.terms(y - K @ a, *noise)
        if _residual(found.g - a, found.g) < NEAR:
            break
        V = found.V
    return a


def climb(K: Tensor, y: Tensor, noise: Noise, a: Tensor, close: float = CLOSE) -> Mode:
    """Newton's method from f = K a, with the signed curvatures where that rises, with the positive ones where not."""
    here, steps = _at(K, y, noise, a), 0
    while True:
        signed = posterior(K, here.W)
        if steps == NEWTON_STEPS or (here.residual <= close and signed.is_maximum):
            break
        there = _step(K, y, noise, here, here.W, signed) if signed.is_maximum else None
        if there is None and len(signed.N):
            W = here.W.clamp_min(0)
            there = _step(K, y, noise, here, W, posterior(K, W))
        if there is None:
            break
        here, steps = there, steps + 1
    return Mode(here.a, here.Psi, here.residual, steps, here.residual <= ENOUGH, signed)


class _Place(NamedTuple):
    a: Tensor
    fall: Tensor
    W: Tensor
    Psi: float
    residual: float


def _at(K: Tensor, y: Tensor, noise: Noise, a: Tensor) -> _Place:
    f = K @ a
    found = likelihood.terms(y - f, *noise)
    fall = found.g - a
    return _Place(a, fall, found.W, found.log_kernel - 0.5 * (a @ f).item(), _residual(fall, found.g))


def _step(K: Tensor, y: Tensor, noise: Noise, here: _Place, W: Tensor, factors: Posterior) -> _Place | None:
    """Where a Newton step with these curvatures leads, shortened until Psi rises; None where it cannot."""
    move = here.fall - W * factors.times(here.fall)  # (I + W K)^-1 (g - a)
    share = 1.0
    for _ in range(HALVINGS):
        there = _at(K, y, noise, here.a + share * move)
        is_nearer = here.residual < FLAT and there.residual < 0.9 * here.residual
        if there.Psi > here.Psi or is_nearer:
            return there
        share *= 0.5
    return None


def _residual(fall: Tensor, g: Tensor) -> float:
    return fall.abs().max().item() / max(g.abs().max().item(), 1.0)


def _solve(K: Tensor, V: Tensor, y: Tensor) -> Tensor:
    """(K + D(V))^-1 y, scaled so that no variance is too large."""
    root = V.sqrt()
    B = K / root.unsqueeze(-1) / root
    B.diagonal().add_(1)
    C, _ = torch.linalg.cholesky_ex(B)
    return torch.cholesky_solve((y / root).unsqueeze(-1), C).squeeze(-1) / root
