"""The modes of many Gaussian processes with a Student-t likelihood at once.

Notation as in `batch`.

References:
    docs/equations.md section 2.1; `mode`.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.laplace import Noise

EM_STEPS, WARM_STEPS, NEWTON_STEPS = 30, 1, 50
NEAR = 0.1  # residual at which expectation maximization hands over to Newton's method
CLOSE = 1e-10  # residual at which that ends, if rounding lets it get there
FLAT = 1e-4  # residual at which rounding hides the rise of Psi, and the residual is the judge
STALLED = 0.5  # share of the residual that a step leaves there only if the rest is rounding
ENOUGH = 1e-7  # residual at which the evidence is as exact as can be
HALVINGS = 12


class Modes(NamedTuple):
    """The modes of the latent values.

    Attributes:
        a: ``E x n`` values of K^-1 f.
        f: ``E x n`` latent values, less the mean.
        Psi: ``E`` heights.
        converged: ``E`` truth values.
    """

    a: Tensor
    f: Tensor
    Psi: Tensor
    converged: Tensor


def find_modes(
    K: Tensor, y: Tensor, noise: Noise, mask: Tensor, f: Tensor, em_steps: int = EM_STEPS, *, is_signed: bool = True
) -> Modes:
    """The local maxima that latent values lead to, by expectation maximization and then Newton's method.

    Args:
        K: ``E x n x n`` prior covariances, zero where there is padding.
        y: ``E x n`` observations less the mean, zero where there is padding.
        noise: The likelihood's parameters: numbers, ``E`` of them, or ``E x n`` squared scales.
        mask: ``E x n``.
        f: ``E x n`` latent values to begin with.
        em_steps: Steps of expectation maximization at most, 1 at least.
        is_signed: Whether Newton's steps have the signed curvatures first: much faster, but they may end at a saddle.
    """
    given = Given(K, y, mask, each(noise, y))
    here = _em(given, f)
    for _ in range(em_steps - 1):
        if not (left := (here.residual >= NEAR).nonzero().squeeze(-1)).numel():
            break
        here = _put(here, left, _em(pick(given, left), here.f[left]))
    left, at_rounding = torch.arange(len(y), device=y.device), torch.zeros(len(y), dtype=torch.bool, device=y.device)
    for _ in range(NEWTON_STEPS):
        left = left[here.residual[left] > CLOSE]
        if not len(left):
            break
        there, has_moved = _newton(pick(given, left), _Place(*(x[left] for x in here)), is_signed)
        is_last = ~has_moved | ((there.residual <= FLAT) & (there.residual > STALLED * here.residual[left]))
        at_rounding[left[is_last]] = True
        here, left = _put(here, left, there), left[~is_last]
    return Modes(here.a, here.f, here.Psi, here.residual <= torch.where(at_rounding, FLAT, ENOUGH))


def cold_modes(K: Tensor, y: Tensor, noise: Noise, mask: Tensor) -> Modes:
    """The higher of the modes that zero and a Gaussian process's posterior mean lead to."""
    gaussian = (K @ _solve(K, each(noise, y).s2.expand_as(y), y).unsqueeze(-1)).squeeze(-1)
    one, other = (find_modes(K, y, noise, mask, f) for f in (torch.zeros_like(y), gaussian))
    is_better = (other.converged & ~one.converged) | ((other.converged == one.converged) & (other.Psi > one.Psi))
    return Modes(*(torch.where(like(is_better, new), new, old) for new, old in zip(other, one, strict=True)))


class Given(NamedTuple):
    """What stays fixed in a search: covariances, observations less the mean, mask, likelihood as `each` has it."""

    K: Tensor
    y: Tensor
    mask: Tensor
    noise: Noise


class _Place(NamedTuple):
    a: Tensor
    f: Tensor
    fall: Tensor
    W: Tensor
    Psi: Tensor
    residual: Tensor


def each(noise: Noise, y: Tensor) -> Noise:
    """The parameters as ``E x 1``, or as they are where there is one a value."""
    return Noise(*(x if x.dim() == 2 else x.reshape(-1, 1).expand(len(y), 1) for x in noise))


def pick(given: Given, rows: Tensor) -> Given:
    """Some of the processes."""
    return Given(given.K[rows], given.y[rows], given.mask[rows], Noise(*(x[rows] for x in given.noise)))


def _put(here: _Place, rows: Tensor, part: _Place) -> _Place:
    return _Place(*(old.index_copy(0, rows, new) for old, new in zip(here, part, strict=True)))


def _at(given: Given, a: Tensor) -> _Place:
    f = (given.K @ a.unsqueeze(-1)).squeeze(-1)
    r, (s2, nu) = given.y - f, given.noise
    g, W = (of(r, s2, nu) * given.mask for of in (likelihood.gradient, likelihood.curvature))
    tail = likelihood.log_tail(r, s2, nu) * given.mask
    fall = g - a
    Psi = -0.5 * ((nu + 1) * tail + a * f).sum(-1)
    return _Place(a, f, fall, W, Psi, fall.abs().amax(-1) / g.abs().amax(-1).clamp_min(1.0))


def _em(given: Given, f: Tensor) -> _Place:
    """A step of expectation maximization from f."""
    return _at(given, _solve(given.K, likelihood.em_variance(given.y - f, *given.noise), given.y))


def _newton(given: Given, here: _Place, is_signed: bool) -> tuple[_Place, Tensor]:
    """A step of each process with the signed curvatures, or with the positive ones where that does not rise.

    Returns where they lead, and which processes have moved.
    """
    if not is_signed:
        return _step(given, here, here.W.clamp_min(0.0))
    there, has_risen = _step(given, here, here.W)
    left = (~has_risen).nonzero().squeeze(-1)
    if not len(left):
        return there, has_risen
    part = _Place(*(x[left] for x in here))
    again, also = _step(pick(given, left), part, part.W.clamp_min(0.0))
    return _put(there, left, again), has_risen.index_copy(0, left, also)


def _step(given: Given, here: _Place, W: Tensor) -> tuple[_Place, Tensor]:
    """Where steps with these curvatures lead, each shortened until it rises, and which of them do."""
    move, broken = torch.linalg.solve_ex(identity_plus(W.unsqueeze(-1) * given.K), here.fall.unsqueeze(-1))
    move = torch.where(like(broken == 0, here.fall), move.squeeze(-1), torch.zeros_like(here.fall))
    best, has_risen, share = here, torch.zeros_like(here.Psi, dtype=torch.bool), 1.0
    for _ in range(HALVINGS):
        there = _at(given, here.a + share * move)
        is_nearer = (here.residual < FLAT) & (there.residual < 0.9 * here.residual)
        rises = ((there.Psi > here.Psi) | is_nearer) & ~has_risen
        best = _Place(*(torch.where(like(rises, new), new, old) for new, old in zip(there, best, strict=True)))
        has_risen = has_risen | rises
        if has_risen.all():
            break
        share *= 0.5
    return best, has_risen


def like(which: Tensor, x: Tensor) -> Tensor:
    """``E`` numbers with as many dimensions as x has."""
    return which.view(-1, *[1] * (x.dim() - 1))


def identity_plus(M: Tensor) -> Tensor:
    """I + M, in the place of M."""
    M.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return M


def _solve(K: Tensor, V: Tensor, y: Tensor) -> Tensor:
    """(K + D(V))^-1 y, scaled so that no variance is too large."""
    root = V.sqrt()
    C, _ = torch.linalg.cholesky_ex(identity_plus(K / root.unsqueeze(-1) / root.unsqueeze(-2)))
    return torch.cholesky_solve((y / root).unsqueeze(-1), C).squeeze(-1) / root
