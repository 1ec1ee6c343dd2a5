"""Predictive density and distribution function of a measurement: a normal latent value with Student-t noise.

Both are integrals over the variance V = nu s2 / chi^2 of a mixture of normal ones, by the trapezoid rule in log V.

Notation (all ``...``, or what broadcasts to it):
    y      measurement
    mu, v  mean and variance of the latent value
    s2, nu squared scale and degrees of freedom of the noise
    t      log V

References:
    docs/equations.md section 2.5.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.student_t.laplace import Laplace, Noise
from robustbo.numerics.student_t.likelihood import gradient

NODES = 257
NEGLIGIBLE = 45.0  # nats below the integrand's maximum
GAUSSIAN = 1e6  # degrees of freedom beyond which the noise is taken for normal


def log_density(y: Tensor, mu: Tensor, v: Tensor, noise: Noise) -> Tensor:
    """The logarithm of the predictive density, far tails included."""
    e = y - mu

    def normal(variance: Tensor) -> Tensor:
        return -0.5 * (e.unsqueeze(-1).square() / variance + variance.log() + LOG_2PI)

    return _mix(normal, e, v, noise)


def log_cdf(y: Tensor, mu: Tensor, v: Tensor, noise: Noise) -> Tensor:
    """The logarithm of the probability of a measurement of at most y.

    Example:
        >>> one = torch.ones((), dtype=torch.float64)
        >>> round(log_cdf(-2 * one, 0 * one, 1e-12 * one, Noise(one, 4 * one)).exp().item(), 4)  # Student-t, 4 degrees
        0.0581
    """
    e = y - mu

    def normal(variance: Tensor) -> Tensor:
        return torch.special.log_ndtr(e.unsqueeze(-1) / variance.sqrt())  # eq. 3.3

    return _mix(normal, e, v, noise)


def normal_log_tail(e: Tensor, sd: Tensor) -> Tensor:
    """The logarithm of the probability that a normal error lies beyond ``... x n`` ones, on their side."""
    return torch.special.log_ndtr(-(e / sd).abs())


def variance(noise: Noise, most: float = 3.0) -> Tensor:
    """The noise's variance s2 nu / (nu - 2); at most so many times its squared scale, for few degrees of freedom."""
    nu = noise.nu.clamp_min(2 * most / (most - 1))
    return noise.s2 * nu / (nu - 2)  # eq. 2.5.1


def cavity(at: Laplace) -> tuple[Tensor, Tensor]:
    """Mean (the constant one left out) and variance of each latent value given the other observations, ``n`` each.

    Where the approximation gives no positive variance, it is the posterior with the observation itself.

    References:
        docs/equations.md section 3.
    """
    return cavity_of(at.f, at.v, at.clamped, gradient(at.r, *at.noise))


def cavity_of(f: Tensor, v: Tensor, W: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """`cavity` from ``... x n`` posterior means and variances, and the likelihood's curvatures and gradients there."""
    share = 1 - W * v
    alone = torch.where(share > 0, v / share.masked_fill(share <= 0, 1.0), v)
    pull = torch.where(share > 0, alone * g, torch.zeros_like(v))
    return f - pull, alone  # eq. 3.4


def _mix(normal: Callable[[Tensor], Tensor], e: Tensor, v: Tensor, noise: Noise) -> Tensor:
    """The logarithm of the mean of a normal one's exponential over the noise's variance.

    A first pass over all that may matter finds the stretch that does: with many degrees of freedom it is narrow.
    """
    s2, nu, e, v = torch.broadcast_tensors(*noise, e, v)
    half, scale = 0.5 * nu.unsqueeze(-1), s2.unsqueeze(-1)

    def integrand(t: Tensor) -> Tensor:
        weight = half * (half * scale).log() - torch.lgamma(half) - half * t - half * scale * torch.exp(-t)  # eq. 2.5.2
        return weight + normal(v.unsqueeze(-1) + t.exp())

    low = s2.log() + (nu / (nu + 80 + 12 * (2 * nu).sqrt())).log().clamp(max=-5.0)  # eq. 2.5.3
    c = 2 * NEGLIGIBLE / nu
    high = (s2 + v + e.square()).log() + 0.5 * (
        c + (c.square() + 8 * c).sqrt()
    )  # nu (u - 1 + exp(-u)) / 2 > NEGLIGIBLE
    t, step = _nodes(low, high)
    h = integrand(t)
    matters = h > h.amax(-1, keepdim=True) - NEGLIGIBLE
    low = t.masked_fill(~matters, math.inf).amin(-1) - step
    high = t.masked_fill(~matters, -math.inf).amax(-1) + step
    t, step = _nodes(low, high)
    mixed = integrand(t).logsumexp(-1) + step.log()
    return torch.where(nu > GAUSSIAN, normal((v + s2).unsqueeze(-1)).squeeze(-1), mixed)


def _nodes(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    step = (high - low) / (NODES - 1)
    return low.unsqueeze(-1) + step.unsqueeze(-1) * torch.arange(NODES, dtype=low.dtype, device=low.device), step
