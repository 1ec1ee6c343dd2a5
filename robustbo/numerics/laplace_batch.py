"""Laplace's approximation for many Gaussian processes with a Student-t likelihood at once.

The mathematics is that of `laplace`; but the curvatures' signs differ from one process to the next, so that instead of
splitting the observations by sign the matrix I + D(W) K, which is not symmetric, is factored as it is.

Processes of different sizes are padded: a row that is padding has no covariance with anything, and no likelihood.

Notation (``E`` processes), beside that of `laplace`:
    K     E x n x n   prior covariances of the latent values
    y     E x n       observations, less the mean
    mask  E x n       1 where there is an observation, 0 where there is padding
    J     E x n x n   I + D(W) K

References:
    equations.md sections 2.1, 2.3, 2.4 and 9.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics import student_t_likelihood as likelihood
from robustbo.numerics.laplace import CLAMP, Noise
from robustbo.numerics.student_t_likelihood import Slopes

EM_STEPS, WARM_STEPS, NEWTON_STEPS = 30, 1, 50
NEAR = 1e-3  # residual at which expectation maximization hands over to Newton's method
CLOSE = 1e-10  # residual at which that ends
FLAT = 1e-4  # residual at which rounding hides the rise of Psi, and the residual is the judge
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


class Evidences(NamedTuple):
    """Approximate log marginal likelihoods and their gradients, curvatures below `CLAMP` replaced by it.

    Attributes:
        L: ``E`` values; -inf where no strict maximum was found.
        K: ``E x n x n`` dL / dK, not symmetric.
        log_s2: ``E`` values of dL / d log s2.
        log_nu: ``E`` values of dL / d log nu.
        m: ``E`` values of dL / dm.
        f: ``E x n`` modes, from which the next evaluation may begin.
    """

    L: Tensor
    K: Tensor
    log_s2: Tensor
    log_nu: Tensor
    m: Tensor
    f: Tensor


def find_modes(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, f: Tensor, em_steps: int = EM_STEPS) -> Modes:
    """The local maxima that latent values lead to, by expectation maximization and then Newton's method.

    Args:
        K: ``E x n x n`` prior covariances, zero where there is padding.
        y: ``E x n`` observations less the mean, zero where there is padding.
        noise: The likelihood's parameters: numbers, ``E`` of them, or ``E x n`` squared scales.
        mask: ``E x n``.
        f: ``E x n`` latent values to begin with.
        em_steps: Steps of expectation maximization at most, 1 at least.
    """
    given = _Given(K, y, mask, _each(noise, y))
    here = _em(given, f)
    for _ in range(em_steps - 1):
        if not (left := (here.residual >= NEAR).nonzero().squeeze(-1)).numel():
            break
        here = _put(here, left, _em(_pick(given, left), here.f[left]))
    left = torch.arange(len(y))
    for _ in range(NEWTON_STEPS):
        left = left[here.residual[left] > CLOSE]
        if not len(left):
            break
        there, has_moved = _newton(_pick(given, left), _Place(*(x[left] for x in here)))
        here, left = _put(here, left, there), left[has_moved]
    return Modes(here.a, here.f, here.Psi, here.residual <= ENOUGH)


def cold_modes(K: Tensor, y: Tensor, noise: Noise, mask: Tensor) -> Modes:
    """The higher of the modes that zero and a Gaussian process's posterior mean lead to."""
    gaussian = (K @ _solve(K, _each(noise, y).s2.expand_as(y), y).unsqueeze(-1)).squeeze(-1)
    one, other = (find_modes(K, y, noise, mask, f) for f in (torch.zeros_like(y), gaussian))
    is_better = (other.converged & ~one.converged) | ((other.converged == one.converged) & (other.Psi > one.Psi))
    return Modes(*(torch.where(_like(is_better, new), new, old) for new, old in zip(other, one, strict=True)))


def evidences(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, modes: Modes, *, is_nu_free: bool = True) -> Evidences:
    """Evidence and gradient at the modes, each mode's own dependence on the hyperparameters included.

    References:
        equations.md sections 2.3 and 2.4; `laplace.approximate` and `laplace.gradient`.
    """
    noise, a, f = _each(noise, y), modes.a, modes.f
    r = y - f
    W = likelihood.curvature(r, *noise) * mask
    Wc = torch.where(mask > 0, W.clamp_min(CLAMP), W)
    root = Wc.sqrt()
    C, failed = torch.linalg.cholesky_ex(_identity_plus(root.unsqueeze(-1) * K * root.unsqueeze(-2)))
    log_p = (likelihood.log_density(r, *noise) * mask).sum(-1)
    L = log_p - 0.5 * (a * f).sum(-1) - C.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    T = torch.linalg.solve_triangular(C, root.unsqueeze(-1) * K, upper=False)
    v = K.diagonal(dim1=-2, dim2=-1) - T.square().sum(-2)
    R = root.unsqueeze(-1) * torch.cholesky_inverse(C) * root.unsqueeze(-2)

    variances = v * (Wc == W) * mask
    s = -0.5 * variances * likelihood.curvature_slope(r, *noise)
    LU, pivots, broken = torch.linalg.lu_factor_ex(_identity_plus(W.unsqueeze(-1) * K))
    z = torch.linalg.lu_solve(LU, pivots, s.unsqueeze(-1)).squeeze(-1)
    sign = _sign(LU, pivots)
    g = likelihood.gradient(r, *noise) * mask
    by_K = 0.5 * (a.unsqueeze(-1) * a.unsqueeze(-2) - R) + z.unsqueeze(-1) * g.unsqueeze(-2)
    Kz = (K @ z.unsqueeze(-1)).squeeze(-1)

    def along(slopes: Slopes) -> Tensor:
        return ((slopes.log_p - 0.5 * variances * slopes.W + Kz * slopes.g) * mask).sum(-1)

    by_s2 = along(likelihood.by_log_s2(r, *noise))
    by_nu = along(likelihood.by_log_nu(r, *noise)) if is_nu_free else torch.zeros_like(L)
    is_fine = modes.converged & (failed == 0) & (broken == 0) & (sign > 0)
    return Evidences(torch.where(is_fine, L, -torch.inf), by_K, by_s2, by_nu, ((a + z) * mask).sum(-1), f)


def weights(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, modes: Modes) -> Tensor:
    """``E x n x n`` R = (I + D(W) K)^-1 D(W), curvatures with signs: the variance of a prediction is k** - k*' R k*."""
    W = likelihood.curvature(y - modes.f, *_each(noise, y)) * mask
    R = torch.linalg.solve(_identity_plus(W.unsqueeze(-1) * K), torch.diag_embed(W))
    return 0.5 * (R + R.mT)


class _Given(NamedTuple):
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


def _each(noise: Noise, y: Tensor) -> Noise:
    """The parameters as ``E x 1``, or as they are where there is one a value."""
    return Noise(*(x if x.dim() == 2 else x.reshape(-1, 1).expand(len(y), 1) for x in noise))


def _pick(given: _Given, rows: Tensor) -> _Given:
    return _Given(given.K[rows], given.y[rows], given.mask[rows], Noise(*(x[rows] for x in given.noise)))


def _put(here: _Place, rows: Tensor, part: _Place) -> _Place:
    return _Place(*(old.index_copy(0, rows, new) for old, new in zip(here, part, strict=True)))


def _at(given: _Given, a: Tensor) -> _Place:
    f = (given.K @ a.unsqueeze(-1)).squeeze(-1)
    r, (s2, nu) = given.y - f, given.noise
    g, W = (of(r, s2, nu) * given.mask for of in (likelihood.gradient, likelihood.curvature))
    tail = torch.log1p(r.clamp(-likelihood.HUGE, likelihood.HUGE).square() / (nu * s2)) * given.mask
    fall = g - a
    Psi = -0.5 * ((nu + 1) * tail + a * f).sum(-1)
    return _Place(a, f, fall, W, Psi, fall.abs().amax(-1) / g.abs().amax(-1).clamp_min(1.0))


def _em(given: _Given, f: Tensor) -> _Place:
    """A step of expectation maximization from f."""
    return _at(given, _solve(given.K, likelihood.em_variance(given.y - f, *given.noise), given.y))


def _newton(given: _Given, here: _Place) -> tuple[_Place, Tensor]:
    """A step of each process with the signed curvatures, or with the positive ones where that does not rise.

    Returns where they lead, and which processes have moved.
    """
    there, has_risen = _step(given, here, here.W)
    left = (~has_risen).nonzero().squeeze(-1)
    if not len(left):
        return there, has_risen
    part = _Place(*(x[left] for x in here))
    again, also = _step(_pick(given, left), part, part.W.clamp_min(0.0))
    return _put(there, left, again), has_risen.index_copy(0, left, also)


def _step(given: _Given, here: _Place, W: Tensor) -> tuple[_Place, Tensor]:
    """Where steps with these curvatures lead, each shortened until it rises, and which of them do."""
    move, broken = torch.linalg.solve_ex(_identity_plus(W.unsqueeze(-1) * given.K), here.fall.unsqueeze(-1))
    move = torch.where(_like(broken == 0, here.fall), move.squeeze(-1), torch.zeros_like(here.fall))
    best, has_risen, share = here, torch.zeros_like(here.Psi, dtype=torch.bool), 1.0
    for _ in range(HALVINGS):
        there = _at(given, here.a + share * move)
        is_nearer = (here.residual < FLAT) & (there.residual < 0.9 * here.residual)
        rises = ((there.Psi > here.Psi) | is_nearer) & ~has_risen
        best = _Place(*(torch.where(_like(rises, new), new, old) for new, old in zip(there, best, strict=True)))
        has_risen = has_risen | rises
        if has_risen.all():
            break
        share *= 0.5
    return best, has_risen


def _like(which: Tensor, x: Tensor) -> Tensor:
    return which.view(-1, *[1] * (x.dim() - 1))


def _identity_plus(M: Tensor) -> Tensor:
    M.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return M


def _sign(LU: Tensor, pivots: Tensor) -> Tensor:
    """Of the determinants."""
    swaps = (pivots != torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)).sum(-1)
    return LU.diagonal(dim1=-2, dim2=-1).sign().prod(-1) * (1 - 2 * (swaps % 2))


def _solve(K: Tensor, V: Tensor, y: Tensor) -> Tensor:
    """(K + D(V))^-1 y, scaled so that no variance is too large."""
    root = V.sqrt()
    C, _ = torch.linalg.cholesky_ex(_identity_plus(K / root.unsqueeze(-1) / root.unsqueeze(-2)))
    return torch.cholesky_solve((y / root).unsqueeze(-1), C).squeeze(-1) / root
