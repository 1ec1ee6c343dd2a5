"""Outcomes robustly standardized, then warped by as much as a fit has learned."""

import math

import torch
from torch import Tensor

from robustbo.numerics.gp.warp import LONGEST
from robustbo.surrogates.transforms.warp import WarpedStandardize

FAR = 30.0  # robust standard deviations beyond which outcomes enter by their logarithm: wrong ones, of any magnitude


class LearnedWarp(WarpedStandardize):
    """asinh(b z) / b on either side of zero, z = (Y - median) / scale, scaled as by `RobustStandardize`.

    Beyond `FAR` z is FAR (1 + log(z / FAR)), likewise below zero: a search can do with any magnitude.

    Attributes:
        t: ``2`` values of log(1 + b^2), below zero and above; zero, which is no warp, until a fit has found others.

    References:
        `robustbo.numerics.gp.warp`.

    Example:
        >>> import torch
        >>> Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [9.0]], dtype=torch.float64)
        >>> transform = LearnedWarp(m=1)
        >>> transform(Y)[0].squeeze(-1).tolist() == ((Y - 2) / transform.stdvs).squeeze().tolist()
        True
    """

    t: Tensor

    def __init__(self, m: int = 1) -> None:
        super().__init__(m=m)
        self.register_buffer("t", torch.zeros(2, dtype=torch.float64))

    def warp(self, z: Tensor) -> Tensor:
        """asinh(b z) / b."""
        return self.bend(torch.where(z.abs() > FAR, FAR * z.sign() * (1 + (z.abs().clamp_min(FAR) / FAR).log()), z))

    def unwarp(self, u: Tensor) -> Tensor:
        """sinh(b u) / b."""
        return self.expand(self.unbend(u))

    def expand(self, z: Tensor) -> Tensor:
        """Standardized outcomes as they are, where those far out are compressed."""
        return torch.where(z.abs() > FAR, z.sign() * FAR * _beyond(z), z)

    def stretch(self, u: Tensor) -> Tensor:
        """cosh(b u), and more far out."""
        return (self._strength(u) * u).clamp(-LONGEST, LONGEST).cosh() * _beyond(self.unbend(u))

    def bend(self, z: Tensor) -> Tensor:
        """The warp of outcomes that are not too far out for a search."""
        b = self._strength(z)
        return torch.where(b > 0, (b * z).asinh() / b.clamp_min(math.ulp(0.0)), z)

    def unbend(self, u: Tensor) -> Tensor:
        """Invert `bend`."""
        b = self._strength(u)
        return torch.where(b > 0, (b * u).clamp(-LONGEST, LONGEST).sinh() / b.clamp_min(math.ulp(0.0)), u)

    def variance_slope(self, z: Tensor) -> Tensor:
        """The squared derivative of `bend`."""
        return 1 / (1 + (self._strength(z) * z).square())

    def _strength(self, z: Tensor) -> Tensor:
        low, high = self.t.expm1().sqrt()
        return torch.where(z > 0, high, low)


def _beyond(z: Tensor) -> Tensor:
    """The derivative of outcomes by their compressed values, 1 where they are not compressed."""
    return (z.abs().clamp(FAR, FAR * LONGEST) / FAR - 1).exp()
