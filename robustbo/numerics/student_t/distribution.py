"""The standard Student-t distribution to the last digits, far into the tail, with derivatives.

No library has these with gradients. The tail is a continued fraction of positive terms, the middle a series, and what
is above zero is reflected.

Notation (all ``...``, or what broadcasts to it):
    z      a value, in units of the scale
    nu     degrees of freedom
    v      |z|
    x      nu / z^2
    y      z^2 / (nu + z^2)

Every function is differentiable twice in z by explicit formulas, and not in nu.

References:
    docs/equations.md section 5.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from robustbo.numerics.student_t.likelihood import log_normalizer

TERMS = 96  # of the series; at |z| = 1.5 and one degree of freedom the rest is below 1e-15
DEPTHS = ((1.5, 150), (2.0, 90), (3.0, 46), (5.0, 22), (10.0, 11), (20.0, 7))  # |z| from which so many levels do: 5e-15
CHUNK = 4096  # elements at a time, which a processor's cache can hold
LARGE = 1e8  # v / sqrt(nu) beyond which 1 + v^2 / nu is its second term


def log_pdf(z: Tensor, nu: Tensor) -> Tensor:
    """The logarithm of the standard density phi."""
    z, nu = check_arguments(z, nu, 0.0, is_open=True)
    with torch.no_grad():
        lean = _lean(z, nu)
        slope = -(nu + 1) * lean
        curvature = (nu + 1) * (2 * lean.square() - 1 / (nu + z.square()))
        value = _log_phi(z.abs(), nu)
    return Smooth.apply(z, value, slope, curvature)


def log_cdf(z: Tensor, nu: Tensor) -> Tensor:
    """The logarithm of the standard distribution function Phi.

    Args:
        z: ``...`` values.
        nu: ``...`` degrees of freedom, at least 1.

    Raises:
        ValueError: If there are fewer, or they require a gradient.

    Example:
        >>> one = torch.ones((), dtype=torch.float64)
        >>> round(log_cdf(-2 * one, 4 * one).exp().item(), 6)
        0.058058
    """
    z, nu = check_arguments(z, nu, 1.0)
    with torch.no_grad():
        (below,) = by_region(z, nu, 1, _cdf_middle, _cdf_tail)
        value = torch.where(z > 0, torch.log1p(-below.exp()), below)
        density = log_pdf(z, nu)
        slope = (density - value).exp()
        curvature = slope * (-(nu + 1) * _lean(z, nu) - slope)
    return Smooth.apply(z, value, slope, curvature)


def cdf(z: Tensor, nu: Tensor) -> Tensor:
    """The standard distribution function Phi; arguments as in `log_cdf`."""
    z, nu = check_arguments(z, nu, 1.0)
    with torch.no_grad():
        slope = log_pdf(z, nu).exp()
        value, curvature = log_cdf(z, nu).exp(), -(nu + 1) * _lean(z, nu) * slope
    return Smooth.apply(z, value, slope, curvature)


def _cdf_middle(v: Tensor, nu: Tensor) -> tuple[Tensor, ...]:
    return (below_half(v, nu)[0].log(),)


def _cdf_tail(v: Tensor, nu: Tensor, depth: int) -> tuple[Tensor, ...]:
    """log Phi(-v) by Phi = phi (nu + v^2) / (nu v) F(1, 1/2; nu/2 + 1; -x)."""
    A = fraction(0.5, nu / v / v, nu, depth)
    return (log_normalizer(nu) - 0.5 * (nu - 1) * log_tail(v, nu) - v.log() + A.log(),)  # eq. 5.4


def below_half(v: Tensor, nu: Tensor) -> tuple[Tensor, Tensor]:
    """Phi(-v) = 1/2 - v phi(v) sum_k ((nu + 1)/2)_k / (3/2)_k y^k, and phi."""
    y, k = v.square() / (nu + v.square()), torch.arange(TERMS, dtype=v.dtype, device=v.device)
    ratios = y.unsqueeze(-1) * ((0.5 * (nu.unsqueeze(-1) + 1) + k) / (1.5 + k))
    pdf = _log_phi(v, nu).exp()
    return 0.5 - v * pdf * (1 + ratios.cumprod(-1).sum(-1)), pdf  # eq. 5.9


def fraction(a: float, x: Tensor, nu: Tensor, depth: int) -> Tensor:
    """F(1, a; nu/2 + 1; -x) = 1/(1 + p_1 x/(1 + p_2 x/(1 + ...))), from the bottom up."""
    unit, c = x.new_ones(()), nu / 2
    n = torch.arange(depth // 2 + 1, dtype=x.dtype, device=x.device).view(-1, *[1] * nu.dim())
    even = n / (c + 2 * n - 1) * ((c - a + n) / (c + 2 * n))  # p_2n, eq. 5.6
    odd = (a + n) / (c + 2 * n) * ((c + n) / (c + 2 * n + 1))  # p_2n+1, eq. 5.6
    p = torch.stack([even, odd], dim=1).flatten(0, 1)[1 : depth + 1]
    t = unit.expand_as(x)
    for px in reversed((p.view(depth, -1) * x).unbind()):
        t = torch.addcdiv(unit, px, t)  # eq. 5.5
    return 1 / t


def by_region(
    z: Tensor, nu: Tensor, size: int, middle: Callable[..., tuple[Tensor, ...]], tail: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """The ``size`` numbers, a logarithm first, that the formulas give at -|z|, each in its region; NaN for NaN."""
    v, nus = z.abs().flatten(), nu.flatten() if nu.dim() else nu
    results = v.new_full((size, len(v)), math.nan)
    tops = [low for low, _ in DEPTHS] + [math.inf]
    for low, top, depth in zip([0.0, *tops], tops, [0, *(depth for _, depth in DEPTHS)], strict=False):
        where = ((v >= low) & ((v < top) | (top == math.inf))).nonzero().squeeze(-1)
        for rows in where.split(CHUNK) if len(where) else ():
            mine = nus[rows] if nus.dim() else nus
            results[:, rows] = torch.stack(tail(v[rows], mine, depth) if depth else middle(v[rows], mine))
    results[0, v == math.inf] = -math.inf
    return results.view(size, *z.shape).unbind()


def _log_phi(v: Tensor, nu: Tensor) -> Tensor:
    return log_normalizer(nu) - 0.5 * (nu + 1) * log_tail(v, nu)


def _lean(z: Tensor, nu: Tensor) -> Tensor:
    """z / (nu + z^2), whatever the size of z."""
    return 1 / (nu / z + z)


def log_tail(v: Tensor, nu: Tensor) -> Tensor:
    """log(1 + v^2 / nu)."""
    u = v / nu.sqrt()
    return torch.log1p(u.clamp_max(LARGE).square()) + 2 * (u.clamp_min(LARGE) / LARGE).log()


def check_arguments(z: Tensor, nu: Tensor, least: float, *, is_open: bool = False) -> tuple[Tensor, Tensor]:
    """Both in one type, and in one shape unless nu is one number."""
    if nu.requires_grad:
        raise ValueError("nu must not require a gradient, since it has none; detach it")
    if not ((nu > least if is_open else nu >= least) & (nu < math.inf)).all():
        range_ = f"{'more than' if is_open else 'at least'} {least:g} and finite"
        raise ValueError(f"nu must be {range_}, got {nu.min().item():g} to {nu.max().item():g}")
    z, nu = (z, nu.to(z)) if nu.dim() == 0 else torch.broadcast_tensors(z, nu.to(z))
    return z, nu


class Smooth(torch.autograd.Function):
    """A function of z by its value and its derivatives there, the next one the slope of the last."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, value: Tensor, *derivatives: Tensor) -> Tensor:
        ctx.save_for_backward(z, *derivatives)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, by_value: Tensor) -> tuple[Tensor | None, ...]:
        z, *derivatives = ctx.saved_tensors
        if not derivatives:
            raise NotImplementedError("only two derivatives exist, and a third was requested")
        slope = Smooth.apply(z, *derivatives)
        return by_value * slope, *[None] * (1 + len(derivatives))
