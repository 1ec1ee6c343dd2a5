"""Noise with exponential tails: Huber's, normal in the middle, and Laplace's, which has no middle.

The logarithm of the density is a parabola where an error is small, and two straight lines beyond, that touch it.

Notation (all ``...``, or what broadcasts to it):
    r, y, f  error y - f, measurement, latent value
    s2       squared scale of the parabola
    edge     error at which a line takes the parabola's place; 0 for Laplace's noise
    rate     slope of the lines
    mu, v    mean and variance of the latent value

References:
    Huber (1964), Robust estimation of a location parameter.
    Algikar and Mili (2023), Robust Gaussian process regression with Huber likelihood.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI


class Tailed(NamedTuple):
    """A noise's parameters; see the notation."""

    s2: Tensor
    edge: Tensor
    rate: Tensor


def huber(s2: Tensor, k: Tensor | float) -> Tailed:
    """Huber's noise, whose lines begin at k scales."""
    s = s2.sqrt()
    return Tailed(s2, k * s, k / s)


def laplace(s2: Tensor) -> Tailed:
    """Laplace's noise of a squared scale, whose variance is 2 s2."""
    return Tailed(s2, torch.zeros_like(s2), s2.rsqrt())


def log_density(r: Tensor, noise: Tailed) -> Tensor:
    """The logarithm of the density of an error.

    Example:
        >>> one = torch.ones((), dtype=torch.float64)
        >>> round(log_density(3 * one, laplace(one)).exp().item(), 4)  # exp(-3) / 2
        0.0249
    """
    s2, edge, rate = noise
    size = r.abs()
    inside = -0.5 * size.minimum(edge).square() / s2
    return inside - rate * (size - edge).clamp_min(0.0) - log_normalizer(noise)


def log_normalizer(noise: Tailed) -> Tensor:
    """The logarithm of the integral of what `log_density` has before it is divided by that."""
    s2, edge, rate = noise
    middle = (2 * math.pi * s2).sqrt() * torch.erf(edge / (2 * s2).sqrt())
    return (middle + 2 * torch.exp(-0.5 * rate * edge) / rate).log()


def variance(noise: Tailed) -> Tensor:
    """The variance of an error."""
    s2, edge, rate = noise
    z = edge / s2.sqrt()
    normal = torch.erf(z / math.sqrt(2)) - 2 * z * torch.exp(-0.5 * (z.square() + LOG_2PI))
    middle = s2 * (2 * math.pi * s2).sqrt() * normal
    tails = 2 * torch.exp(-0.5 * rate * edge) * (edge.square() / rate + 2 * edge / rate**2 + 2 / rate**3)
    return (middle + tails) / log_normalizer(noise).exp()


def log_tail(r: Tensor, noise: Tailed) -> Tensor:
    """The logarithm of the probability of an error of at least that size on its side."""
    s2, edge, rate = noise
    size = r.abs()
    beyond = torch.exp(-rate * (size.maximum(edge) - 0.5 * edge)) / rate
    s = s2.sqrt()
    between = torch.special.ndtr(edge / s) - torch.special.ndtr(size.minimum(edge) / s)
    return ((2 * math.pi * s2).sqrt() * between + beyond).log() - log_normalizer(noise)


def log_predictive(y: Tensor, mu: Tensor, v: Tensor, noise: Tailed) -> Tensor:
    """The logarithm of the density of a measurement about a normal latent value, far tails included.

    Each of the three pieces of the noise gives a normal integral: over the lines, one of a normal distribution that is
    shifted by rate v; over the parabola, one of the posterior of the error given that its noise is normal.
    """
    s2, edge, _ = noise
    e = (y - mu).abs()
    share = s2 / (s2 + v)
    t = (share * v).sqrt()
    upper, lower = torch.special.log_ndtr((edge - share * e) / t), torch.special.log_ndtr((-edge - share * e) / t)
    within = upper + torch.log1p(-torch.exp(lower - upper))  # -inf where there is no middle
    middle = within + 0.5 * (share.log() - e.square() / (s2 + v))
    pieces = torch.broadcast_tensors(middle, _over_a_line(e, v, noise), _over_a_line(-e, v, noise))
    return torch.stack(pieces).logsumexp(0) - log_normalizer(noise)


def _over_a_line(e: Tensor, v: Tensor, noise: Tailed) -> Tensor:
    """The logarithm of the integral over the line of positive errors, where the measurement's distance is e."""
    _, edge, rate = noise
    z = (e - edge - rate * v) / v.sqrt()
    near = rate * (0.5 * edge + 0.5 * rate * v - e) + torch.special.log_ndtr(z)
    tail = torch.special.erfcx(z.clamp_max(0.0) / -math.sqrt(2)) / 2  # of log_ndtr, less its square: it would cancel
    far = -0.5 * rate * edge - 0.5 * (e - edge).square() / v + tail.log()
    return torch.where(z > 0, near, far)
