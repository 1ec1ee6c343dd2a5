"""The Student-t likelihood of single observations, and its derivatives.

Notation (all ``... x n``, or what broadcasts to it):
    r    residual y - f
    s2   squared scale sigma^2 (not the variance, which is s2 nu / (nu - 2) for nu > 2)
    nu   degrees of freedom
    q    nu s2 + r^2
    g    d log p / df
    W    -d^2 log p / df^2; negative where |r| > sqrt(nu) sigma
    V    EM variance q / (nu + 1), so that g = r / V

References:
    docs/equations.md section 1.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.evidence import LOG_2PI
from robustbo.numerics.linalg.lapack import Array

Numbers: TypeAlias = Any  # a tensor or an array, or one number

MANY = 200.0  # degrees of freedom beyond which a difference of log gamma functions loses digits: a series then
HUGE = 1e150  # residuals beyond count as this, whose square is still finite


class Terms(NamedTuple):
    """Terms that a search for the mode needs, at once.

    Attributes:
        log_kernel: Sum over the observations of what depends on f, -(nu + 1) / 2 log(1 + r^2 / (nu s2)).
        g: ``n`` gradients.
        W: ``n`` curvatures.
        V: ``n`` EM variances.
    """

    log_kernel: float
    g: Array
    W: Array
    V: Array


class Slopes(NamedTuple):
    """Derivatives of log p, g and W with respect to one number."""

    log_p: Numbers
    g: Numbers
    W: Numbers


def log_density(r: Tensor, s2: Tensor, nu: Tensor) -> Tensor:
    """log p(y | f)."""
    return log_normalizer(nu) - 0.5 * s2.log() - 0.5 * (nu + 1) * log_tail(r, s2, nu)  # eq. 1.1


def terms(r: Array, s2: Numbers, nu: float) -> Terms:
    """The kernel's sum, gradients, curvatures and EM variances of ``n`` residuals, by few operations."""
    c, more = nu * s2, nu + 1
    x2 = _square(r) / c
    tail = 1 + x2
    V = tail * (c / more)
    return Terms(-0.5 * more * float(np.log1p(x2).sum()), r / V, (1 - x2) / tail / V, V)  # eq. 1.1


def gradient(r: Numbers, s2: Numbers, nu: Numbers) -> Numbers:
    """g = (nu + 1) r / q."""
    return r / em_variance(r, s2, nu)  # eq. 1.2


def curvature(r: Numbers, s2: Numbers, nu: Numbers) -> Numbers:
    """W = (nu + 1)(nu s2 - r^2) / q^2."""
    x2 = _square(r) / (nu * s2)
    return (nu + 1) / (nu * s2) * (1 - x2) / (1 + x2) / (1 + x2)  # eq. 1.3


class Shares(NamedTuple):
    """Parts of the derivatives of W: r / q, s2 / q and r^2 / q, and q."""

    pull: Numbers
    scale: Numbers
    lean: Numbers
    q: Numbers


def shares(r: Numbers, s2: Numbers, nu: Numbers) -> Shares:
    """Shares of residuals."""
    r2 = _square(r)
    q = nu * s2 + r2
    return Shares(r / q, s2 / q, r2 / q, q)


def curvature_slope(at: Shares, nu: Numbers) -> Numbers:
    """dW / df = 2 (nu + 1) r (3 nu s2 - r^2) / q^3."""
    return 2 * (nu + 1) * at.pull * (3 * nu * at.scale - at.lean) / at.q  # eq. 1.4


def em_variance(r: Numbers, s2: Numbers, nu: Numbers) -> Numbers:
    """V = q / (nu + 1): the variance of a normal error that has the same g."""
    return (nu * s2 + _square(r)) / (nu + 1)  # eq. 1.5


def by_log_s2(at: Shares, nu: Numbers) -> Slopes:
    """Derivatives with respect to log s2."""
    lean, share = at.lean, nu * at.scale
    more = (nu + 1) * share
    return Slopes(0.5 * (nu * lean - share), -more * at.pull, more * (3 * lean - share) / at.q)  # eq. 1.6


def by_log_nu(r: Tensor, s2: Tensor, nu: Tensor) -> Slopes:
    """Derivatives with respect to log nu."""
    pull, share, lean, q = shares(r, s2, nu)
    tail = _log_normalizer_slope(nu) - 0.5 * log_tail(r, s2, nu) + 0.5 * (nu + 1) / nu * lean  # eq. 1.7
    on_W = 2 * nu * share + share - lean - 2 * share * (nu + 1) * (nu * share - lean)  # eq. 1.9
    return Slopes(nu * tail, nu * (lean - share) * pull, nu * on_W / q)  # eq. 1.8


def _square(r: Numbers) -> Numbers:
    size = np.minimum(np.abs(r), HUGE) if isinstance(r, np.ndarray) else r.clip(-HUGE, HUGE)
    return size * size


def log_tail(r: Tensor, s2: Tensor, nu: Tensor) -> Tensor:
    """log(1 + r^2 / (nu s2))."""
    return torch.log1p(_square(r) / (nu * s2))


def log_normalizer(nu: Tensor) -> Tensor:
    """log Gamma((nu + 1)/2) - log Gamma(nu / 2) - log(nu pi) / 2."""
    few, many = nu.clamp(max=MANY), nu.clamp(min=MANY)
    exact = torch.lgamma((few + 1) / 2) - torch.lgamma(few / 2) - 0.5 * (few.log() + math.log(math.pi))
    series = -0.5 * LOG_2PI - 1 / (4 * many) + 1 / (24 * many**3) - 1 / (20 * many**5)  # eq. 1.10
    return torch.where(nu < MANY, exact, series)


@lru_cache
def log_normalizer_of(nu: float) -> float:
    """`log_normalizer` of a number."""
    return log_normalizer(torch.tensor(nu, dtype=torch.float64)).item()


def _log_normalizer_slope(nu: Tensor) -> Tensor:
    few, many = nu.clamp(max=MANY), nu.clamp(min=MANY)
    exact = 0.5 * (torch.digamma((few + 1) / 2) - torch.digamma(few / 2) - 1 / few)
    return torch.where(nu < MANY, exact, 1 / (4 * many**2) - 1 / (8 * many**4) + 1 / (4 * many**6))
