"""Outcomes robustly standardized, then warped by as much as a fit has learned."""

import math

import torch
from torch import Tensor

from robustbo.numerics.gp.warp import LONGEST, NONE
from robustbo.surrogates.transforms.robust_standardize import LARGEST
from robustbo.surrogates.transforms.warp import WarpedStandardize

EVERYTHING = -math.inf, math.inf
FAR = 30.0  # robust standard deviations beyond which outcomes enter by their logarithm: wrong ones, of any magnitude


class LearnedWarp(WarpedStandardize):
    """k asinh(b (z - o)) / b on either side of o, z = (Y - median) / scale, scaled as by `RobustStandardize`.

    A constant makes it 0 at the median, and k makes its slope 1 there.

    Beyond `FAR` z is FAR (1 + log(z / FAR)), likewise below zero: a search can do with any magnitude. Beyond the values
    that a model has been fitted to nobody knows how outcomes bend: the warp goes on along its tangent there, both ways,
    so that predictions become no numbers that no value has hinted at. Of a fit all values are within.

    Attributes:
        t: log(1 + b^2) below the origin and above, and the origin o; no warp until a fit has found one.
        reach: The least and the largest of a fitted model's outcomes, transformed; everything until it has been fitted.

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
    reach: tuple[float, float] = EVERYTHING

    def __init__(self, m: int = 1) -> None:
        super().__init__(m=m)
        self.register_buffer("t", torch.tensor(NONE, dtype=torch.float64))

    def take(self, means: Tensor, stdvs: Tensor) -> None:
        """Take center and scale as they are given; no model has been fitted by these."""
        super().take(means, stdvs)
        self.follow(None)

    def follow(self, u: Tensor | None) -> None:
        """Follow the bend as far as a model's transformed outcomes reach; everywhere where there are none."""
        self.reach = EVERYTHING if u is None else (u.min().item(), u.max().item())

    def warp(self, z: Tensor) -> Tensor:
        """The bend, and its tangent beyond all values."""
        u = self.bend(self.compress(z))
        at = u.clamp(*self.reach)
        return torch.where(u == at, u, at + (z - self._unwarp(at)) / self._stretch(at))  # eq. 17.7

    def unwarp(self, u: Tensor) -> Tensor:
        """The inverse of the bend, and its tangent beyond all values."""
        at = u.clamp(*self.reach)
        return torch.where(u == at, self._unwarp(at), self._unwarp(at) + self._stretch(at) * (u - at))

    def stretch(self, u: Tensor) -> Tensor:
        """The derivative of the inverse; beyond all values that of the last one."""
        return self._stretch(u.clamp(*self.reach))

    def before(self, Y: Tensor) -> Tensor:
        """Outcomes as they are before the bend: standardized, and compressed far out."""
        return self.compress(((Y - self.means.squeeze()) / self.stdvs.squeeze()).clamp(-LARGEST, LARGEST))

    def _unwarp(self, u: Tensor) -> Tensor:
        return self.expand(self.unbend(u))

    def _stretch(self, u: Tensor) -> Tensor:
        z = self.unbend(u)
        return _beyond(z) / self.variance_slope(z).sqrt()

    def compress(self, z: Tensor) -> Tensor:
        """Standardized outcomes, those far out by their logarithm."""
        return torch.where(z.abs() > FAR, FAR * z.sign() * (1 + (z.abs().clamp_min(FAR) / FAR).log()), z)

    def expand(self, z: Tensor) -> Tensor:
        """Standardized outcomes as they are, where those far out are compressed."""
        return torch.where(z.abs() > FAR, z.sign() * FAR * _beyond(z), z)

    def bend(self, z: Tensor) -> Tensor:
        """The warp of outcomes that are not too far out for a search."""
        if not self.t[:2].any():
            return z
        u, b = self._from_origin(z)
        return self._at_center[1] * (_arsinh(u, b) - self._at_center[0])

    def unbend(self, u: Tensor) -> Tensor:
        """Invert `bend`."""
        if not self.t[:2].any():
            return u
        center, k = self._at_center
        bent = u / k + center
        b = self._strength(bent)
        far = (b * bent).clamp(-LONGEST, LONGEST).sinh() / b.clamp_min(math.ulp(0.0))
        return self.t[2] + torch.where(b > 0, far, bent)

    def variance_slope(self, z: Tensor) -> Tensor:
        """The squared derivative of `bend`."""
        u, b = self._from_origin(z)
        return self._at_center[1].square() / (1 + (b * u).square())

    @property
    def _at_center(self) -> tuple[Tensor, Tensor]:
        """The bent center, and k."""
        u, b = self._from_origin(torch.zeros_like(self.t[2]))
        return _arsinh(u, b), torch.hypot(torch.ones_like(u), b * u)

    def _from_origin(self, z: Tensor) -> tuple[Tensor, Tensor]:
        u = z - self.t[2]
        return u, self._strength(u)

    def _strength(self, u: Tensor) -> Tensor:
        """The bends on the sides of the origin where something lies."""
        low, high = self.t[:2].expm1().sqrt()
        return torch.where(u > 0, high, low)


def _arsinh(u: Tensor, b: Tensor) -> Tensor:
    """asinh(b u) / b, and u where b is zero."""
    return torch.where(b > 0, (b * u).asinh() / b.clamp_min(math.ulp(0.0)), u)


def _beyond(z: Tensor) -> Tensor:
    """The derivative of outcomes by their compressed values, 1 where they are not compressed."""
    return (z.abs().clamp(FAR, FAR * LONGEST) / FAR - 1).exp()
