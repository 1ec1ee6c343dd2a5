"""Noisy expected improvement: the logarithm, for one point at a time, with its gradient.

The best value so far is unknown where measurements are noisy or suspicious. So latent values are sampled at all points
measured or asked (the baseline); given such a sample the improvement of a new point has a closed form, and the mean
over the samples is taken. Monte Carlo qLogNEI of one point is the same expectation with the new point sampled too.

Notation (shapes after any leading batch dimensions, which are those of the processes; points have none):
    Z      z x d   baseline
    K      z x z   prior covariance of the latent values there, with some jitter
    f      S x z   samples of them, given the data
    a      z x S   K^-1 (f - m)
    best   S       the largest value of each sample
    k      b x z   prior covariance of b new points with the baseline
    M, V   b x S, b   mean and variance of a new point's value, given each sample

References:
    Letham, Karrer, Ottoni and Bakshy (2019), Constrained Bayesian optimization with noisy experiments, section 4.2;
    Ament et al. (2023), Unexpected improvements to expected improvement, for the logarithm.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.cholesky import factor
from robustbo.numerics.evidence import LOG_2PI
from robustbo.numerics.kernels import KERNELS, squared_differences

JITTER = 1e-6  # of the signal variance: the baseline may hold the same point twice
FAR = -1e4  # standard deviations below which 1 + u M(u) is taken from its asymptote, 1 / u^2


class Latent(NamedTuple):
    """A Gaussian process given data: kernel, constant mean, inputs, and what the data's covariance gives.

    Attributes:
        kernel: A name of `KERNELS`.
        l: ``... x d`` length-scales.
        s2f: ``...`` signal variances.
        m: ``...`` constant means.
        X: ``n x d`` inputs.
        P: ``... x n x n`` inverse covariances of the observations.
        al: ``... x n`` values of P (y - m).
    """

    kernel: str
    l: Tensor
    s2f: Tensor
    m: Tensor
    X: Tensor
    P: Tensor
    al: Tensor

    def covariance(self, X: Tensor, Z: Tensor) -> Tensor:
        """Prior covariance of latent values at ``n x d`` and ``m x d`` points."""
        return KERNELS[self.kernel](squared_differences(X, Z), self.l, self.s2f).K


def stacked(latents: Sequence[Latent]) -> Latent:
    """Processes of the same kernel and inputs as one, with a leading dimension; one process as it is.

    Where one needs jitter to be factored, all get some: not more than 1e-4 of their variance.
    """
    if len(latents) == 1:
        return latents[0]
    l, s2f, m, P, al = (
        torch.stack(parts) for parts in zip(*((p.l, p.s2f, p.m, p.P, p.al) for p in latents), strict=True)
    )
    return Latent(latents[0].kernel, l, s2f, m, latents[0].X, P, al)


class Improvement(NamedTuple):
    """All that the improvement of a new point depends on."""

    latent: Latent
    Z: Tensor
    K_inverse: Tensor
    a: Tensor
    best: Tensor


def over(latent: Latent, Z: Tensor, normal: Tensor) -> Improvement:
    """The improvement over a baseline.

    Args:
        latent: The process given data.
        Z: ``z x d`` baseline; must hold all inputs of the data.
        normal: ``S x z`` standard normal numbers.
    """
    prior, cross = latent.covariance(Z, Z), latent.covariance(Z, latent.X)
    jitter = JITTER * latent.s2f[..., None, None] * torch.eye(len(Z), dtype=Z.dtype)
    root = factor(prior - cross @ latent.P @ cross.mT + jitter).L
    f = (cross @ latent.al.unsqueeze(-1)).mT + normal @ root.mT  # less the mean
    K_inverse = torch.cholesky_inverse(factor(prior + jitter).L)
    return Improvement(latent, Z, K_inverse, K_inverse @ f.mT, latent.m.unsqueeze(-1) + f.amax(-1))


def log_improvement(to: Improvement, x: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of noisy expected improvement at ``b x d`` points: ``... x b``; its gradient: ``... x b x d``."""
    latent = to.latent
    k = KERNELS[latent.kernel](squared_differences(x, to.Z), latent.l, latent.s2f)
    M = latent.m[..., None, None] + k.K @ to.a
    W = k.K @ to.K_inverse
    s2f, best = latent.s2f.unsqueeze(-1), to.best.unsqueeze(-2)
    unclamped = s2f - (W * k.K).sum(-1)
    V = unclamped.maximum(JITTER * s2f)
    sd = V.sqrt().unsqueeze(-1)
    u = (M - best) / sd
    log_h = log_ei(u)
    value = log_h.logsumexp(-1) - math.log(best.shape[-1]) + sd.squeeze(-1).log()
    by_M = log_h.softmax(-1) * (torch.special.log_ndtr(u) - log_h).exp() / sd  # h' = Phi
    by_V = (1 - (by_M * (M - best)).sum(-1)) / (2 * V) * (unclamped == V)
    G = (by_M @ to.a.mT - 2 * by_V.unsqueeze(-1) * W) * k.K_u2
    return value, 2 * (x * G.sum(-1, keepdim=True) - G @ to.Z) / latent.l.square().unsqueeze(-2)


def log_mixed_improvement(to: Improvement, log_w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the mean improvement over several models (``b``), and its gradient (``b x d``).

    Args:
        to: That over the `stacked` processes.
        log_w: Logarithms of their ``k`` probabilities.
        x: ``b x d`` new points.
    """
    values, gradients = log_improvement(to, x)
    if len(log_w) == 1:
        return values, gradients
    values = values + log_w.unsqueeze(-1)
    return values.logsumexp(0), (values.softmax(0).unsqueeze(-1) * gradients).sum(0)


def log_ei(u: Tensor) -> Tensor:
    """log(phi(u) + u Phi(u)), the logarithm of standard normal expected improvement, for any u.

    Below -1 it is log phi(u) + log(1 - |u| Phi(u) / phi(u)), the ratio by the scaled complementary error function.
    """
    is_near, is_far = u > -1, u < FAR
    near = u.masked_fill(~is_near, 0.0)
    middle = u.masked_fill(is_near | is_far, -1.0)
    far = u.masked_fill(~is_far, FAR)
    above = (torch.exp(-0.5 * (near.square() + LOG_2PI)) + near * torch.special.ndtr(near)).log()
    ratio = math.sqrt(math.pi / 2) * torch.special.erfcx(-middle / math.sqrt(2))
    tail = torch.where(is_far, -2 * (-far).log(), torch.log1p(middle * ratio))
    return torch.where(is_near, above, -0.5 * (u.square() + LOG_2PI) + tail)
