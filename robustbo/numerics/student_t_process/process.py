"""The Student-t process: a Gaussian process whose overall scale is unknown, with an inverse-gamma prior.

The noise is part of the kernel, so the scale multiplies both: all formulas stand on those of the Gaussian process.

Notation (shapes after any leading batch dimensions):
    Kn       n x n   covariance of the observations, noise included, but for the scale
    P        n x n   its inverse
    y, m     n, -    observations and their constant mean
    al       n       P (y - m)
    beta             (y - m)'P (y - m)
    s2s              the scale, sigma_s^2: y given s2s is N(m, s2s Kn)
    a, b             its prior's parameters: density ~ s2s^(-a - 1) exp(-b / s2s)
    nu               degrees of freedom of the prior, 2a
    df               degrees of freedom of predictions, 2a + n

References:
    docs/equations.md section 4; Shah, Wilson and Ghahramani (2014), Student-t processes as alternatives to Gaussian
    processes; Tracey and Wolpert (2018), Upgrading from Gaussian processes to Student's-t processes.
"""

import math
from typing import NamedTuple

import torch
from scipy.special import gammainccinv, gammaincinv, ndtr
from torch import Tensor

from robustbo.numerics.gp.evidence import Evidence


class InverseGamma(NamedTuple):
    """The scale's prior."""

    a: Tensor
    b: Tensor


def shah(nu: Tensor) -> InverseGamma:
    """The prior by which Kn is the covariance of the observations, as Shah and others have it; nu must exceed 2."""
    return InverseGamma(nu / 2, (nu - 2) / 2)  # eq. 4.4


class Marginal(NamedTuple):
    """The process given observations, its scale integrated out.

    Attributes:
        L: Log marginal likelihood.
        beta: Squared Mahalanobis length of the residual.
        weight: (2a + n) / (2b + beta), the posterior mean of 1 / s2s.
        df: Degrees of freedom of predictions.
        prior: Of the scale.
    """

    L: Tensor
    beta: Tensor
    weight: Tensor
    df: Tensor
    prior: InverseGamma

    @property
    def scale2(self) -> Tensor:
        """Factor from the Gaussian process's variance to the squared scale of a prediction."""
        return 1 / self.weight  # eq. 4.2

    @property
    def stretch(self) -> Tensor:
        """Factor from the Gaussian process's variance to the variance of a prediction."""
        return self.scale2 * self.df / (self.df - 2)  # eq. 4.2


def log_evidence(beta: Tensor, log_det: Tensor, n: int, prior: InverseGamma) -> Tensor:
    """log p(y) of ``n`` observations, by the residual's length and the logarithm of |Kn|.

    References:
        docs/equations.md section 4, log p(y).
    """
    (a, b), half = prior, n / 2
    constant = torch.lgamma(a + half) - torch.lgamma(a) - half * (2 * math.pi * b).log()
    return constant - 0.5 * log_det - (a + half) * torch.log1p(beta / (2 * b))  # eq. 4.1


def marginal(evidence: Evidence, y: Tensor, prior: InverseGamma) -> Marginal:
    """Integrate the scale out of a Gaussian process's evidence.

    The gradient of L with respect to Kn is (weight al al' - P) / 2: that of the Gaussian one whose al is larger by the
    root of the weight.

    Args:
        evidence: The evidence with a scale of 1.
        y: ``... x n`` observations.
        prior: Of the scale.

    References:
        docs/equations.md section 4, the gradient.
    """
    n, (a, b) = y.shape[-1], prior
    beta = (evidence.al * (y - evidence.m.unsqueeze(-1))).sum(-1)
    df = 2 * a + n
    return Marginal(log_evidence(beta, evidence.log_det, n, prior), beta, df / (2 * b + beta), df, prior)  # eq. 4.6


def slopes(at: Marginal) -> tuple[Tensor, Tensor]:
    """The derivatives of L with respect to log a and log b."""
    (a, b), half = at.prior, at.df / 2
    on_a = a * (torch.digamma(half) - torch.digamma(a) - torch.log1p(at.beta / (2 * b)))
    return on_a, a - half + half * at.beta / (2 * b + at.beta)  # eq. 4.7


def jeffreys(evidence: Evidence, k: Tensor, C: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Location, scale and degrees of freedom of predictions where neither mean nor scale is known a priori.

    Args:
        evidence: The evidence with a scale of 1 and the best mean.
        k: ``... x n x t`` covariance of the observations with ``t`` latent values.
        C: ``... x t`` conditional variances of these, k** - k'P k.
        y: ``... x n`` observations, two at least.

    References:
        docs/equations.md section 4, constant mean with Jeffreys priors.
    """
    n = y.shape[-1]
    z = y - evidence.m.unsqueeze(-1)
    location = evidence.m.unsqueeze(-1) + (k.mT @ evidence.al.unsqueeze(-1)).squeeze(-1)  # eq. 4.10
    s2 = (z * evidence.al).sum(-1, keepdim=True) / (n - 1)  # eq. 4.9
    unexplained = 1 - (k.mT @ evidence.P1.unsqueeze(-1)).squeeze(-1)
    scale2 = s2 * (C + unexplained.square() / evidence.P1.sum(-1, keepdim=True))  # eq. 4.10
    return location, scale2.sqrt(), s2.new_tensor(n - 1.0)


class StudentTErrors(NamedTuple):
    """Student-t predictions of ``n`` observations, each by the others: errors, squared scales, degrees of freedom."""

    e: Tensor
    scale2: Tensor
    df: Tensor


def leave_one_out(evidence: Evidence, y: Tensor, prior: InverseGamma) -> StudentTErrors:
    """Predict each observation from the others, the mean left as it is.

    Without observation i the residual's length is r'P r less e_i^2 P_ii; beside a gross value that difference would be
    rounding error, so it is summed from its parts.

    Args:
        evidence: The evidence with a scale of 1.
        y: ``... x n`` observations.
        prior: Of the scale.
    """
    P_diag = evidence.P.diagonal(dim1=-2, dim2=-1)
    e = evidence.al / P_diag
    r = y - evidence.m.unsqueeze(-1)
    al = evidence.al.unsqueeze(-2) - evidence.P * e.unsqueeze(-1)  # row i: that of the others, zero at i
    al = al - torch.diag_embed(al.diagonal(dim1=-2, dim2=-1))
    beta = (al @ r.unsqueeze(-1)).squeeze(-1).clamp_min(0.0)
    df = 2 * prior.a + y.shape[-1] - 1
    return StudentTErrors(e, (2 * prior.b.unsqueeze(-1) + beta) / (df.unsqueeze(-1) * P_diag), df)


def gain(e: Tensor, scale2: Tensor, df: Tensor) -> Tensor:
    """Nats by which an error is likelier with the best squared scale, e^2, than with one that is smaller.

    With many degrees of freedom it is that of `outlier_gain.gain`.
    """
    q = (e.square() / scale2).clamp_min(1.0)
    return 0.5 * ((df + 1) * ((df + q) / (df + 1)).log() - q.log())


def radius(normal: Tensor, df: Tensor) -> Tensor:
    """sqrt(df / chi^2), the chi^2 number of df degrees of freedom being at the quantile of a standard normal number.

    A joint Student-t sample is its location plus this times L eps: one number for all points.

    Args:
        normal: ``...`` standard normal numbers, without a gradient.
        df: Degrees of freedom, one number.
    """
    half, u = df.item() / 2, ndtr(-normal.abs().cpu().numpy())  # torch's is zero from -8.3 down
    below, above = (torch.from_numpy(inverse(half, u)).to(normal) for inverse in (gammaincinv, gammainccinv))
    return (half / torch.where(normal < 0, below, above)).sqrt()  # eq. 4.11
