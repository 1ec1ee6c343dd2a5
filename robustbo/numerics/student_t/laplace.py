"""Laplace's approximation of a Gaussian process with a Student-t likelihood: evidence, gradient, predictions.

Every curvature keeps its sign: an outlier has a negative one, which makes the posterior wider than without it.

Tensors come in and go out, in double precision and on the CPU; between, they are arrays over the same memory, since
with a few hundred observations what a tensor's operation costs beyond its arithmetic would be most of the time.

Notation (no batch dimensions):
    K    n x n   prior covariance of the latent values, without noise
    y    n       observations
    m            constant mean
    f    n       latent values less the mean, K a
    a    n       at the mode the likelihood's gradient g
    Psi          log p(y | f) - f' K^-1 f / 2, less what does not depend on f
    W    n       minus its second derivative
    Sig  n x n   posterior covariance of the latent values, (K^-1 + D(W))^-1
    R    n x n   (K + D(W)^-1)^-1 = D(W) - D(W) Sig D(W)

References:
    Vanhatalo, Jylanki and Vehtari (2009), Gaussian process regression with Student-t likelihood; docs/equations.md
    section 2.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.lazy import cached_property
from robustbo.numerics.linalg.lapack import Array, as_tensor
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.likelihood import Slopes
from robustbo.numerics.student_t.signed_posterior import SignedPosterior, signed_posterior

CLAMP = 1e-6  # the least curvature in the distributed paper's convention, and GPy's


class Noise(NamedTuple):
    """The likelihood's parameters.

    Attributes:
        s2: Squared scale; one number or ``n``.
        nu: Degrees of freedom, one number.
    """

    s2: Tensor
    nu: Tensor


def as_numbers(noise: Noise) -> tuple[Any, float]:
    """Squared scale (a number, or an array of ``n``) and degrees of freedom."""
    return noise.s2.numpy() if noise.s2.dim() else noise.s2.item(), noise.nu.item()


class ModeProblem(NamedTuple):
    """Problem of finding the mode, as arrays and numbers; see `find_mode`."""

    K: Array
    y: Array
    s2: Any
    nu: float


def mode_problem(K: Tensor, y: Tensor, noise: Noise) -> ModeProblem:
    """Tensors as arrays of the same memory."""
    return ModeProblem(K.numpy(), y.numpy(), *as_numbers(noise))


class ModePoint(NamedTuple):
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


def mode_point(problem: ModeProblem, a: Array) -> ModePoint:
    """Latent values, curvatures and height at a."""
    f = problem.K @ a
    terms = likelihood.terms(problem.y - f, problem.s2, problem.nu)
    fall = terms.g - a
    return ModePoint(a, f, fall, terms.W, terms.log_kernel - 0.5 * float(a @ f), residual(fall, terms.g))  # eq. 2.1.1


def residual(fall: Array, g: Array) -> float:
    """Largest |a - g|, relative to the largest |g| where that exceeds 1."""
    return float(np.abs(fall).max()) / max(float(np.abs(g).max()), 1.0)


@dataclass(frozen=True, eq=False)
class Laplace:
    """The approximation at a mode. R and v are made when first asked for: a search needs them only where it goes on.

    Attributes:
        L: Approximate log marginal likelihood.
        a: ``n`` values of K^-1 f.
        f: ``n`` latent values at the mode, less the mean.
        r: ``n`` residuals y - m - f.
        W: ``n`` curvatures with their signs.
        clamped: ``n`` curvatures as they enter determinant and covariance.
        signed: The posterior with the signed curvatures.
        posterior: The posterior with the curvatures as they enter.
        noise: The likelihood's parameters.
    """

    L: Tensor
    a: Tensor
    f: Tensor
    r: Tensor
    W: Tensor
    clamped: Tensor
    signed: SignedPosterior
    posterior: SignedPosterior
    noise: Noise

    @cached_property
    def half_R(self) -> Array:
        """``n x n`` lower triangle of R with half of its diagonal."""
        return self.posterior.half_R

    @cached_property
    def R(self) -> Tensor:
        """``n x n``: the variance of a prediction is k** - k*' R k*, its mean m + k*' a."""
        return torch.from_numpy(self.half_R + self.half_R.T)

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `gp.posterior.Posterior`."""
        return k @ self.a, k @ self.R @ k.mT  # eq. 2.2.2, eq. 2.3.2

    @cached_property
    def v(self) -> Tensor:
        """``n`` posterior variances of the latent values, the diagonal of Sig."""
        clamped = self.clamped.numpy()
        if clamped.min() < CLAMP:
            return torch.from_numpy(self.posterior.variances)
        return torch.from_numpy((clamped - 2 * self.half_R.diagonal()) / (clamped * clamped))


class Gradient(NamedTuple):
    """The gradient of L.

    Attributes:
        K: ``n x n`` dL / dK, for a pullback; not symmetric, and right once its transpose is added.
        log_s2: ``n`` contributions to dL / d log s2, whose sum it is for one common s2.
        log_nu: dL / d log nu.
        m: ``n`` contributions to dL / dm, whose sum it is for one constant m.
    """

    K: Tensor
    log_s2: Tensor
    log_nu: Tensor
    m: Tensor


def approximate(
    K: Tensor,
    y: Tensor,
    m: Tensor,
    noise: Noise,
    a: Tensor,
    *,
    is_clamped: bool = False,
    at: ModePoint | None = None,
    signed: SignedPosterior | None = None,
) -> Laplace:
    """The approximation at a mode.

    Args:
        K: ``n x n`` prior covariance.
        y: ``n`` observations.
        m: Constant mean.
        noise: The likelihood's parameters.
        a: ``n`` values at the mode, as `mode.find_mode` gives them.
        is_clamped: Whether curvatures below `CLAMP` are replaced by it in determinant and covariance, as in the
            distributed robust GP paper; the signed ones are exact.
        at: What is known at a, if at hand.
        signed: The posterior with the signed curvatures, if at hand.

    Returns:
        With L = log p(y | f) - a'f / 2 - log|I + K D(W)| / 2; not finite where this is no strict maximum.
    """
    problem = mode_problem(K, y - m, noise)
    at = mode_point(problem, a.numpy()) if at is None else at
    signed = signed_posterior(problem.K, at.W) if signed is None else signed
    clamped = np.maximum(at.W, CLAMP) if is_clamped else at.W  # eq. 2.3.1
    used = signed_posterior(problem.K, clamped) if is_clamped and bool((at.W < CLAMP).any()) else signed
    log_scales = len(a) * (float(np.log(problem.s2).mean()) if noise.s2.dim() else math.log(problem.s2))
    log_p = len(a) * likelihood.log_normalizer_of(problem.nu) - 0.5 * log_scales
    L = log_p + at.Psi - 0.5 * used.log_det if used.is_maximum else -math.inf  # eq. 2.2.1
    f, r, W, clamped_ = (torch.from_numpy(x) for x in (at.f, problem.y - at.f, at.W, clamped))
    return Laplace(as_tensor(L), a, f, r, W, clamped_, signed, used, noise)


def with_signed_curvatures(at: Laplace) -> Laplace:
    """Approximation at the same mode with the curvatures' signs as they are."""
    zero = torch.zeros_like(at.L)
    return approximate(torch.from_numpy(at.signed.K), at.r + at.f, zero, at.noise, at.a)


def gradient(at: Laplace, *, is_nu_free: bool = True) -> Gradient:
    """The gradient of L, the mode's own dependence on the hyperparameters included: one solve for all of them.

    Args:
        at: Where.
        is_nu_free: Whether the slope in log nu is wanted; it is zero if not.

    References:
        docs/equations.md section 2.4.
    """
    a, r, W, clamped, v = (x.numpy() for x in (at.a, at.r, at.W, at.clamped, at.v))
    s2, nu = as_numbers(at.noise)
    variances = v * (clamped == W)
    shares = likelihood.shares(r, s2, nu)
    s = -0.5 * variances * likelihood.curvature_slope(shares, nu)  # eq. 2.4.1
    z = at.signed.solve(s)
    Kz = at.signed.K @ z
    by_K = (0.5 * a + z)[:, None] * a  # eq. 2.4.5
    by_K -= at.half_R.T

    def along(slopes: Slopes) -> Array:
        return slopes.log_p - 0.5 * variances * slopes.W + Kz * slopes.g  # eq. 2.4.3

    by_s2 = along(likelihood.by_log_s2(shares, nu))
    by_nu = along(Slopes(*(x.numpy() for x in likelihood.by_log_nu(at.r, *at.noise)))).sum() if is_nu_free else 0.0
    by_m = a + z  # eq. 2.4.4
    return Gradient(torch.from_numpy(by_K), torch.from_numpy(by_s2), as_tensor(by_nu), torch.from_numpy(by_m))
