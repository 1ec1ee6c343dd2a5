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
    docs/equations.md sections 2.1, 2.3, 2.4 and 9.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.batch_mode import Given, Modes, each, find_modes, identity_plus, like, pick
from robustbo.numerics.student_t.laplace import CLAMP, Noise
from robustbo.numerics.student_t.likelihood import Slopes

ASIDE = 0.05  # of the residuals: how far a search goes from a saddle to begin again


class Evidences(NamedTuple):
    """Approximate log marginal likelihoods and their gradients, curvatures below `CLAMP` replaced by it.

    Attributes:
        L: ``E`` values; -inf where there are none.
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


def evidences(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, modes: Modes, *, is_nu_free: bool = True) -> Evidences:
    """Evidence and gradient at the modes, each mode's own dependence on the hyperparameters included.

    References:
        docs/equations.md sections 2.3 and 2.4; `laplace.approximate` and `laplace.gradient`.
    """
    noise = each(noise, y)
    modes, J = _settled(K, y, noise, mask, modes)
    a, f = modes.a, modes.f
    r = y - f
    W = likelihood.curvature(r, *noise) * mask
    Wc = torch.where(mask > 0, W.clamp_min(CLAMP), W)
    root, C, failed, v = positive(K, Wc)
    log_p = (likelihood.log_density(r, *noise) * mask).sum(-1)
    L = log_p - 0.5 * (a * f).sum(-1) - C.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    R = root.unsqueeze(-1) * torch.cholesky_inverse(C) * root.unsqueeze(-2)

    variances = v * (Wc == W) * mask
    shares = likelihood.shares(r, *noise)
    s = -0.5 * variances * likelihood.curvature_slope(shares, noise.nu)
    z = torch.linalg.lu_solve(J.LU, J.pivots, s.unsqueeze(-1)).squeeze(-1)
    g = likelihood.gradient(r, *noise) * mask
    by_K = 0.5 * (a.unsqueeze(-1) * a.unsqueeze(-2) - R) + z.unsqueeze(-1) * g.unsqueeze(-2)
    Kz = (K @ z.unsqueeze(-1)).squeeze(-1)

    def along(slopes: Slopes) -> Tensor:
        return ((slopes.log_p - 0.5 * variances * slopes.W + Kz * slopes.g) * mask).sum(-1)

    by_s2 = along(likelihood.by_log_s2(shares, noise.nu))
    by_nu = along(likelihood.by_log_nu(r, *noise)) if is_nu_free else torch.zeros_like(L)
    is_fine = (failed == 0) & z.isfinite().all(-1)
    return Evidences(torch.where(is_fine, L, -torch.inf), by_K, by_s2, by_nu, ((a + z) * mask).sum(-1), f)


class Factored(NamedTuple):
    """Curvatures, and the LU factors of J with them.

    The variance of a prediction is k** - k*' J^-1 D(W) k*, in this order: the inverse itself would lose all digits
    where the signal is large beside the noise.

    Attributes:
        W: ``E x n``, signs kept where the mode is strict.
        LU: ``E x n x n``.
        pivots: ``E x n``.
        is_strict: ``E`` truth values.
    """

    W: Tensor
    LU: Tensor
    pivots: Tensor
    is_strict: Tensor


def factors(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, modes: Modes) -> Factored:
    """What the variances of predictions need."""
    return _settled(K, y, each(noise, y), mask, modes)[1]


def _settled(K: Tensor, y: Tensor, noise: Noise, mask: Tensor, modes: Modes) -> tuple[Modes, Factored]:
    """The modes, and J factored. Where a mode is a saddle it is left; where that fails, curvatures are clamped.

    A determinant that is not positive tells a saddle, or one of several: an even number of descents passes unseen.
    """
    J = factored(K, likelihood.curvature(y - modes.f, *noise) * mask)
    left = (~(modes.converged & J.is_strict)).nonzero().squeeze(-1)
    if not len(left):
        return modes, J
    given, part = pick(Given(K, y, mask, noise), left), Modes(*(x[left] for x in modes))
    aside = part.f + ASIDE * (given.y - part.f)
    again = find_modes(given.K, given.y, given.noise, given.mask, aside, is_signed=False)
    again = Modes(*(torch.where(like(again.Psi > part.Psi, x), x, old) for x, old in zip(again, part, strict=True)))
    W = likelihood.curvature(given.y - again.f, *given.noise) * given.mask
    found = factored(given.K, W)
    found = factored(given.K, torch.where(found.is_strict.unsqueeze(-1), W, W.clamp_min(CLAMP) * given.mask))
    put = [
        [old.index_copy(0, left, new) for old, new in zip(*pair, strict=True)] for pair in ((modes, again), (J, found))
    ]
    return Modes(*put[0]), Factored(*put[1])


class Positive(NamedTuple):
    """What curvatures (or weights) that are not negative give, their root and the Cholesky factor of I + root K root.

    Attributes:
        root: ``E x n``.
        C: ``E x n x n``.
        failed: ``E`` integers, 0 where there is a factor.
        v: ``E x n`` posterior variances of the latent values.
    """

    root: Tensor
    C: Tensor
    failed: Tensor
    v: Tensor


def positive(K: Tensor, W: Tensor) -> Positive:
    """The factor of ``E x n`` curvatures that are not negative, and variances by it."""
    root = W.sqrt()
    C, failed = torch.linalg.cholesky_ex(identity_plus(root.unsqueeze(-1) * K * root.unsqueeze(-2)))
    T = torch.linalg.solve_triangular(C, root.unsqueeze(-1) * K, upper=False)
    return Positive(root, C, failed, K.diagonal(dim1=-2, dim2=-1) - T.square().sum(-2))


def factored(K: Tensor, W: Tensor) -> Factored:
    """J of some curvatures, factored."""
    LU, pivots, broken = torch.linalg.lu_factor_ex(identity_plus(W.unsqueeze(-1) * K))
    return Factored(W, LU, pivots, (broken == 0) & (_sign(LU, pivots) > 0))


def _sign(LU: Tensor, pivots: Tensor) -> Tensor:
    """Of the determinants."""
    swaps = (pivots != torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)).sum(-1)
    return LU.diagonal(dim1=-2, dim2=-1).sign().prod(-1) * (1 - 2 * (swaps % 2))
