"""Laplace's approximation of a Gaussian process with a Student-t likelihood: evidence, gradient, predictions.

Every curvature keeps its sign: an outlier has a negative one, which makes the posterior wider than without it.

Notation (no batch dimensions):
    K    n x n   prior covariance of the latent values, without noise
    y    n       observations
    m            constant mean
    f    n       latent values less the mean, K a
    a    n       at the mode the likelihood's gradient g
    W    n       minus its second derivative
    Sig  n x n   posterior covariance of the latent values, (K^-1 + D(W))^-1
    R    n x n   (K + D(W)^-1)^-1 = D(W) - D(W) Sig D(W)

References:
    Vanhatalo, Jylanki and Vehtari (2009), Gaussian process regression with Student-t likelihood; equations.md
    section 2.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics import student_t_likelihood as likelihood
from robustbo.numerics.student_t_likelihood import Slopes

CLAMP = 1e-6  # the least curvature in the distributed paper's convention, and GPy's


class Noise(NamedTuple):
    """The likelihood's parameters.

    Attributes:
        s2: Squared scale; one number or ``n``.
        nu: Degrees of freedom, one number.
    """

    s2: Tensor
    nu: Tensor


class Posterior(NamedTuple):
    """The posterior of latent values, in factors of R; see `posterior`.

    Attributes:
        K: ``n x n`` prior covariance.
        root: ``n`` square roots of W where it is positive, else 0.
        N: Indices of the ``k`` observations where it is not.
        E: ``k`` square roots of |W| of these.
        C: ``n x n`` Cholesky factor of I + D(root) K D(root).
        T: ``n x k`` values of C^-1 D(root) K_N.
        C_N: ``k x k`` Cholesky factor of I - E (K_NN - T'T) E.
        is_maximum: Whether both factors exist: at a strict local maximum they do.
    """

    K: Tensor
    root: Tensor
    N: Tensor
    E: Tensor
    C: Tensor
    T: Tensor
    C_N: Tensor
    is_maximum: bool

    @property
    def log_det(self) -> Tensor:
        """log|I + K D(W)|."""
        return 2 * (self.C.diagonal().log().sum() + self.C_N.diagonal().log().sum())

    @property
    def R(self) -> Tensor:
        """``n x n``."""
        R = self.root.unsqueeze(-1) * torch.cholesky_inverse(self.C) * self.root
        if not len(self.N):
            return R
        u = -torch.linalg.solve_triangular(self.C.mT, self.T, upper=True).mT * self.root
        u[torch.arange(len(self.N)), self.N] += 1
        u = torch.linalg.solve_triangular(self.C_N, self.E.unsqueeze(-1) * u, upper=False)
        return R - u.mT @ u

    def whiten(self, V: Tensor) -> tuple[Tensor, Tensor]:
        """Two matrices t (``n x m``) and u (``k x m``) with V' R V = t't - u'u, for ``n x m`` V."""
        t = torch.linalg.solve_triangular(self.C, self.root.unsqueeze(-1) * V, upper=False)
        if not len(self.N):
            return t, V[:0]
        u = self.E.unsqueeze(-1) * (V[self.N] - self.T.mT @ t)
        return t, torch.linalg.solve_triangular(self.C_N, u, upper=False)

    def weigh(self, V: Tensor) -> Tensor:
        """R V, for ``n x m`` V."""
        t, u = self.whiten(V)
        if not len(self.N):
            return self.root.unsqueeze(-1) * torch.linalg.solve_triangular(self.C.mT, t, upper=True)
        w = self.E.unsqueeze(-1) * torch.linalg.solve_triangular(self.C_N.mT, u, upper=True)
        x = torch.linalg.solve_triangular(self.C.mT, t + self.T @ w, upper=True)
        return (self.root.unsqueeze(-1) * x).index_add(0, self.N, w, alpha=-1)

    def times(self, b: Tensor) -> Tensor:
        """Sig b, for ``n`` numbers b."""
        Kb = (self.K @ b).unsqueeze(-1)
        return (Kb - self.K @ self.weigh(Kb)).squeeze(-1)


class Laplace(NamedTuple):
    """The approximation at a mode.

    Attributes:
        L: Approximate log marginal likelihood.
        a: ``n`` values of K^-1 f.
        f: ``n`` latent values at the mode, less the mean.
        r: ``n`` residuals y - m - f.
        W: ``n`` curvatures with their signs.
        clamped: ``n`` curvatures as they enter determinant and covariance.
        signed: The posterior with the signed curvatures.
        posterior: The posterior with the curvatures as they enter.
        R: ``n x n``, of the latter: the variance of a prediction is k** - k*' R k*, its mean m + k*' a.
        v: ``n`` posterior variances of the latent values, the diagonal of Sig.
        noise: The likelihood's parameters.
    """

    L: Tensor
    a: Tensor
    f: Tensor
    r: Tensor
    W: Tensor
    clamped: Tensor
    signed: Posterior
    posterior: Posterior
    R: Tensor
    v: Tensor
    noise: Noise


class Gradient(NamedTuple):
    """The gradient of L.

    Attributes:
        K: ``n x n`` dL / dK, for a pullback; not symmetric.
        log_s2: ``n`` contributions to dL / d log s2, whose sum it is for one common s2.
        log_nu: dL / d log nu.
        m: ``n`` contributions to dL / dm, whose sum it is for one constant m.
    """

    K: Tensor
    log_s2: Tensor
    log_nu: Tensor
    m: Tensor


def posterior(K: Tensor, W: Tensor) -> Posterior:
    """The posterior of latent values under curvatures of either sign. O(n^3).

    Only the square root of W is a problem where W is negative: so the observations are split by its sign.

    References:
        equations.md section 2.2.
    """
    root, N = W.clamp_min(0).sqrt(), (W <= 0).nonzero().squeeze(-1)
    B = root.unsqueeze(-1) * K * root
    B.diagonal().add_(1)
    C, failed = torch.linalg.cholesky_ex(B)
    if not len(N):
        return Posterior(K, root, N, root[:0], C, K[:, :0], K[:0, :0], not bool(failed))
    K_N, E = K[:, N], W[N].abs().sqrt()
    T = torch.linalg.solve_triangular(C, root.unsqueeze(-1) * K_N, upper=False)
    B_N = -E.unsqueeze(-1) * (K_N[N] - T.mT @ T) * E
    B_N.diagonal().add_(1)
    C_N, failed_N = torch.linalg.cholesky_ex(B_N)
    return Posterior(K, root, N, E, C, T, C_N, not bool(failed | failed_N))


def approximate(
    K: Tensor,
    y: Tensor,
    m: Tensor,
    noise: Noise,
    a: Tensor,
    *,
    is_clamped: bool = False,
    signed: Posterior | None = None,
) -> Laplace:
    """The approximation at a mode.

    Args:
        K: ``n x n`` prior covariance.
        y: ``n`` observations.
        m: Constant mean.
        noise: The likelihood's parameters.
        a: ``n`` values at the mode, as `laplace_mode.find_mode` gives them.
        is_clamped: Whether curvatures below `CLAMP` are replaced by it in determinant and covariance, as in the
            distributed robust GP paper; the signed ones are exact.
        signed: The posterior with the signed curvatures, if at hand.

    Returns:
        With L = log p(y | f) - a'f / 2 - log|I + K D(W)| / 2; not finite where this is no strict maximum.
    """
    f = K @ a
    r = y - m - f
    W = likelihood.curvature(r, *noise)
    signed = posterior(K, W) if signed is None else signed
    clamped = W.clamp_min(CLAMP) if is_clamped else W
    used = posterior(K, clamped) if is_clamped and bool((W < CLAMP).any()) else signed
    L = likelihood.log_density(r, *noise).sum() - 0.5 * (a @ f) - 0.5 * used.log_det
    L = L if used.is_maximum else torch.full_like(L, -math.inf)
    R = used.R
    v = K.diagonal() - (K @ R * K).sum(-1)
    return Laplace(L, a, f, r, W, clamped, signed, used, R, v, noise)


def unclamped(at: Laplace) -> Laplace:
    """The same approximation with the curvatures as they are."""
    zero = torch.zeros_like(at.L)
    return approximate(at.signed.K, at.r + at.f, zero, at.noise, at.a)


def gradient(at: Laplace, *, is_nu_free: bool = True) -> Gradient:
    """The gradient of L, the mode's own dependence on the hyperparameters included: one solve for all of them.

    Args:
        at: Where.
        is_nu_free: Whether the slope in log nu is wanted; it is zero if not.

    References:
        equations.md section 2.4.
    """
    is_free = at.clamped == at.W
    variances = at.v * is_free
    s = -0.5 * variances * likelihood.curvature_slope(at.r, *at.noise)
    z = s - at.W * at.signed.times(s)  # (I + W K)^-1 s
    g = likelihood.gradient(at.r, *at.noise)
    by_K = 0.5 * (torch.outer(at.a, at.a) - at.R) + torch.outer(z, g)
    Kz = at.signed.K @ z

    def along(slopes: Slopes) -> Tensor:
        return slopes.log_p - 0.5 * variances * slopes.W + Kz * slopes.g

    by_s2 = along(likelihood.by_log_s2(at.r, *at.noise))
    by_nu = along(likelihood.by_log_nu(at.r, *at.noise)).sum() if is_nu_free else torch.zeros_like(at.L)
    return Gradient(by_K, by_s2, by_nu, at.a + z)
