"""Expected improvement under a standard Student-t distribution: to the last digits, far into the tail.

The closed form cancels in the tail, or is zero; here the tail is a continued fraction of positive terms, the middle a
series, and what is above zero is reflected.

Notation (all ``...``, or what broadcasts to it), beside that of `student_t.distribution`:
    z      location minus incumbent, in units of the scale
    h      expected improvement, E max(z + t, 0) for a standard Student-t t: h' = Phi, h'' = phi
    B      F(1, 3/2; nu/2 + 1; -x), by which h = phi (nu + z^2)^2 / (nu (nu - 1) z^2) B for z < 0

Every function is differentiable twice in z by explicit formulas, and not in nu.

References:
    docs/equations.md section 5; Ament et al. (2023), Unexpected improvements to expected improvement, for the
    logarithm.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.student_t.distribution import Smooth, below_half, by_region, check_arguments, fraction, log_tail
from robustbo.numerics.student_t.likelihood import log_normalizer


def improvement(z: Tensor, nu: Tensor) -> Tensor:
    """Standard expected improvement h; arguments as in `log_improvement`."""
    z, nu = check_arguments(z, nu, 1.0, is_open=True)
    with torch.no_grad():
        parts = _improvement(z, nu)
        h = parts.log_h.exp()
    return Smooth.apply(z, h, h * parts.cdf_ratio, h * parts.pdf_ratio)


def log_improvement(z: Tensor, nu: Tensor) -> Tensor:
    """The logarithm of standard expected improvement; its tail is that of a polynomial, -(nu - 1) log|z|.

    Args:
        z: ``...`` values.
        nu: ``...`` degrees of freedom, more than 1: with fewer the improvement is infinite.

    Returns:
        ``...`` values of log h(z), right to 1e-13 of max(1, |log h|); their slopes to 1e-12 (1e-11 below nu = 1.5).

    Raises:
        ValueError: If there are fewer degrees of freedom, or they require a gradient.

    Example:
        >>> one = torch.ones((), dtype=torch.float64)
        >>> round(log_improvement(-100 * one, 1000 * one).item(), 3)  # the closed form is NaN
        -1205.48
    """
    z, nu = check_arguments(z, nu, 1.0, is_open=True)
    with torch.no_grad():
        parts = _improvement(z, nu)
        curvature = parts.pdf_ratio - parts.cdf_ratio.square()
    return Smooth.apply(z, parts.log_h, parts.cdf_ratio, curvature)


class _Improvement(NamedTuple):
    """log h, Phi / h and phi / h."""

    log_h: Tensor
    cdf_ratio: Tensor
    pdf_ratio: Tensor


def _improvement(z: Tensor, nu: Tensor) -> _Improvement:
    """Improvement by h(z) = z + h(-z) and Phi(z) = 1 - Phi(-z) where z is positive."""
    below = _Improvement(*by_region(z, nu, 3, _improvement_middle, _improvement_tail))
    is_above = z > 0
    small = below.log_h.exp()
    h = z.clamp_min(0.0) + small  # eq. 5.2
    return _Improvement(
        torch.where(is_above, h.log(), below.log_h),
        torch.where(is_above, (1 - small * below.cdf_ratio) / h, below.cdf_ratio),
        torch.where(is_above, small * below.pdf_ratio / h, below.pdf_ratio),
    )


def _improvement_middle(v: Tensor, nu: Tensor) -> tuple[Tensor, ...]:
    """Improvement at z = -v, by h = z Phi + (nu + z^2) / (nu - 1) phi."""
    cdf, pdf = below_half(v, nu)
    h = (nu + v.square()) / (nu - 1) * pdf - v * cdf  # eq. 5.2
    return h.log(), cdf / h, pdf / h


def _improvement_tail(v: Tensor, nu: Tensor, depth: int) -> tuple[Tensor, ...]:
    """Improvement at z = -v, by B; F(1, 1/2; nu/2 + 1; -x), and so Phi, follows: the two are contiguous."""
    x = nu / v / v
    B = fraction(1.5, x, nu, depth)
    log_h = log_normalizer(nu) + (nu / (nu - 1)).log() - 0.5 * (nu - 3) * log_tail(v, nu) - 2 * v.log()  # eq. 5.7
    log_h = log_h + B.log()
    share = nu / ((1 + x) * B)
    return log_h, (share - 1) / v, share * ((nu - 1) / (1 + x)) / v / v  # eq. 5.8
