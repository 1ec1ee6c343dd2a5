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

from robustbo.numerics.laplace.approximation import Approximation, entering, through
from robustbo.numerics.laplace.mode import Place, place
from robustbo.numerics.laplace.signed_posterior import Posterior, posterior
from robustbo.numerics.linalg.lapack import Array, as_tensor
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t.likelihood import Terms


class Noise(NamedTuple):
    """The likelihood's parameters.

    Attributes:
        s2: Squared scale; one number or ``n``.
        nu: Degrees of freedom, one number.
    """

    s2: Tensor
    nu: Tensor


def numbers(noise: Noise) -> tuple[Any, float]:
    """The same as numbers, or an array of ``n`` squared scales."""
    return noise.s2.numpy() if noise.s2.dim() else noise.s2.item(), noise.nu.item()


class Given(NamedTuple):
    """What stays fixed in a search for the mode, as arrays and numbers; see `find_mode`."""

    K: Array
    y: Array
    s2: Any
    nu: float

    def terms(self, f: Array) -> Terms:
        """The likelihood at ``n`` latent values less the mean."""
        return likelihood.terms(self.y - f, self.s2, self.nu)


def given_by(K: Tensor, y: Tensor, noise: Noise) -> Given:
    """Tensors as arrays of the same memory."""
    return Given(K.numpy(), y.numpy(), *numbers(noise))


@dataclass(frozen=True, eq=False)
class Laplace(Approximation):
    """The approximation at a mode.

    Attributes:
        r: ``n`` residuals y - m - f.
        noise: The likelihood's parameters.
    """

    r: Tensor
    noise: Noise


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
    at: Place | None = None,
    signed: Posterior | None = None,
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
    given = given_by(K, y - m, noise)
    at = place(given, a.numpy()) if at is None else at
    signed = posterior(given.K, at.W) if signed is None else signed
    enters = entering(at, signed, is_clamped)
    log_scales = len(a) * (float(np.log(given.s2).mean()) if noise.s2.dim() else math.log(given.s2))
    log_p = len(a) * likelihood.log_normalizer_of(given.nu) - 0.5 * log_scales
    L = as_tensor(enters.log_evidence(log_p, at))
    f, W, clamped, r = (torch.from_numpy(x) for x in (at.f, at.W, enters.clamped, given.y - at.f))
    return Laplace(L, a, f, W, clamped, signed, enters.posterior, r, noise)


def unclamped(at: Laplace) -> Laplace:
    """The same approximation with the curvatures as they are."""
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
    (s2, nu), zero = numbers(at.noise), as_tensor(0.0)
    shares = likelihood.shares(at.r.numpy(), s2, nu)
    found = through(at, likelihood.curvature_slope(shares, nu))
    by_s2 = torch.from_numpy(found.along(*likelihood.by_log_s2(shares, nu)))
    by_nu = (x.numpy() for x in likelihood.by_log_nu(at.r, *at.noise)) if is_nu_free else ()
    log_nu = as_tensor(found.along(*by_nu).sum()) if is_nu_free else zero
    return Gradient(torch.from_numpy(found.K), by_s2, log_nu, torch.from_numpy(found.m))
