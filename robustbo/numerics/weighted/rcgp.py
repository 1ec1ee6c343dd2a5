"""Robust conjugate Gaussian processes: each observation counts by a weight, and the posterior stays in closed form.

A weighted score matching loss takes the likelihood's place. It is quadratic in the latent values, so that the posterior
is that of a Gaussian process with noise s2 J at the targets m + z: a value far off has more noise, and a target a
little farther out, which makes up for what the weight's slope takes.

Notation (shapes after any leading batch dimensions):
    K      n x n  covariance of the latent values
    s2     n      noise variances (or one)
    m             constant prior mean
    r      n      y - gamma, gamma being what the weights are taken around: m, or an earlier fit's predictions
    c      n      soft threshold (or one)
    share  n      (w / beta)^2 with beta^2 = s2 / 2: 1 for an observation that counts wholly
    J      n      1 / share, by which the noise variance is stretched
    b      n      -d log(w^2) / dy, so that the target moves by s2 b
    A      n x n  K + s2 J
    z      n      y - m + s2 b
    P      n x n  inverse of A
    v      n      P z, the representer weights
    e, t   n      leave-one-out error of y, and its variance (noise included)

References:
    Altamirano, Briol and Knoblauch (2024), Robust and conjugate Gaussian process regression; docs/equations.md
    section 7.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg import lapack


class Weighting(NamedTuple):
    """Weights of the observations.

    Attributes:
        J: ``... x n`` stretches of the noise variance, at least 1 for the robust weights.
        b: ``... x n`` moves of the targets, by unit of noise variance.
    """

    J: Tensor
    b: Tensor

    @property
    def share(self) -> Tensor:
        """``... x n`` squared weights, 1 for an observation that counts wholly."""
        return 1 / self.J


def constant(r: Tensor) -> Weighting:
    """The weights of the plain process: sigma / sqrt2, or sigma^2 / sqrt(2 sigma^2(x)) where the noise differs."""
    return Weighting(torch.ones_like(r), torch.zeros_like(r))


def inverse_multiquadric(r: Tensor, c: Tensor) -> Weighting:
    """The robust weights beta (1 + r^2 / c^2)^(-1/2).

    Args:
        r: ``... x n`` values, less what the weights are taken around.
        c: ``... x n`` soft thresholds (or one), positive.
    """
    q = r / c
    J = 1 + q.square()  # eq. 7.2
    return Weighting(J, 2 * q / c / J)  # eq. 7.2


@dataclass(frozen=True)
class Conjugate:
    """The process given its observations.

    Attributes:
        r: ``... x n`` values less the prior mean.
        s2: ``... x n`` noise variances.
        weighting: Of the observations.
        z: ``... x n`` targets less the prior mean.
        C: ``... x n x n`` lower Cholesky factor of A.
        P: ``... x n x n`` inverse of A.
        v: ``... x n`` representer weights: the latent mean at x is m + k_x'v, its variance k_xx - k_x'P k_x.
        converged: Whether A is positive definite; the rest is meaningless if not.
    """

    r: Tensor
    s2: Tensor
    weighting: Weighting
    z: Tensor
    C: Tensor
    P: Tensor
    v: Tensor
    converged: bool

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """See `gp.posterior.Posterior`."""
        right = k @ self.root.mT
        return k @ self.v, right @ right.mT  # eq. 7.3

    @cached_property
    def root(self) -> Tensor:
        """``... x n x n`` inverse of C; see `gp.posterior.LatentProcess`."""
        return lapack.inverse_root(self.C)


def condition(K: Tensor, r: Tensor, s2: Tensor, weighting: Weighting) -> Conjugate:
    """The posterior of a robust conjugate process. O(n^3).

    Args:
        K: ``... x n x n`` covariance of the latent values.
        r: ``... x n`` values less the prior mean.
        s2: ``... x n`` noise variances.
        weighting: Of the observations.
    """
    A = K + torch.diag_embed(s2 * weighting.J)
    C, info = torch.linalg.cholesky_ex(A)
    z = r + s2 * weighting.b
    v = torch.cholesky_solve(z.unsqueeze(-1), C).squeeze(-1)  # eq. 7.3
    return Conjugate(r, s2, weighting, z, C, torch.cholesky_inverse(C), v, not bool(info.any()))


class PredictionErrors(NamedTuple):
    """The error of each value against a prediction of it, and that prediction's variance, noise included."""

    e: Tensor
    t: Tensor


def leave_one_out(K: Tensor, process: Conjugate) -> PredictionErrors:
    """Leave-one-out errors and variances; the weights of the others stay as they are.

    The latent variance 1 / P_ii - s2 J_ii is taken as (K P)_ii / P_ii: beside a large J it would cancel to nothing.
    """
    P_ii = process.P.diagonal(dim1=-2, dim2=-1)
    latent = (K * process.P).sum(-1) / P_ii
    return PredictionErrors(
        process.v / P_ii - process.s2 * process.weighting.b, latent.clamp_min(0.0) + process.s2
    )  # eq. 7.5


def in_sample(process: Conjugate) -> PredictionErrors:
    """Errors and variances of the values where each is predicted by all, itself included."""
    N = process.s2 * process.weighting.J
    latent = N - N.square() * process.P.diagonal(dim1=-2, dim2=-1)  # diag(K - K P K), and K = A - D(N)
    return PredictionErrors(process.r - process.z + N * process.v, latent.clamp_min(0.0) + process.s2)


class LeaveOneOutObjective(NamedTuple):
    """The leave-one-out objective and its gradient.

    Attributes:
        L: ``...`` sum of the shares times the log densities of the values, each predicted by all others.
        G: ``... x n x n`` dL / dA; the same with respect to K, and its diagonal times J is a part of dL / d s2.
        L_s2: ``... x n`` dL / d s2, wholly.
    """

    L: Tensor
    G: Tensor
    L_s2: Tensor


def objective(K: Tensor, process: Conjugate, share: Tensor) -> LeaveOneOutObjective:
    """The leave-one-out objective, by which hyperparameters are found: the loss has units of its own, so no evidence.

    With phi the shares, l_i = -(log(2 pi t_i) + e_i^2 / t_i) / 2, q = phi dl / de, h = phi dl / dt, a = q / diag P and
    u = -(q v + h) / (diag P)^2:  dL = a' dv + u' d(diag P) - q' d(s2 b) - h' d(s2 (J - 1)),  dP = -P dA P,
    dv = -P dA v + P d(s2 b). So G = -(P a v' + v a'P) / 2 - P D(u) P.

    Args:
        K: ``... x n x n`` covariance of the latent values.
        process: The process given its observations.
        share: ``... x n`` weights of the summands; ones for the sum of the source.

    References:
        docs/equations.md section 7, training; the gradient is ours.
    """
    J, b = process.weighting
    P, v = process.P, process.v
    P_ii = P.diagonal(dim1=-2, dim2=-1)
    e, t = leave_one_out(K, process)
    density = -0.5 * (LOG_2PI + t.log() + e.square() / t)
    q, h = -share * e / t, 0.5 * share * (e.square() / t - 1) / t
    Pa = (P @ (q / P_ii).unsqueeze(-1)).squeeze(-1)
    u = -(q * v + h) / P_ii.square()
    half = Pa.unsqueeze(-1) * v.unsqueeze(-2)
    G = -0.5 * (half + half.mT) - (P * u.unsqueeze(-2)) @ P
    L_s2 = G.diagonal(dim1=-2, dim2=-1) * J + (Pa - q) * b - h * (J - 1)
    return LeaveOneOutObjective((share * density).sum(-1), G, L_s2)  # eq. 7.5
