"""A baseline: the plain GP on outcomes that a power makes as normal as it can."""

import math
import warnings
from typing import ClassVar

import torch
from scipy.stats import yeojohnson_normmax
from torch import Tensor

from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.transforms.warp import WarpedStandardize

MOST = 1e6  # of a standardized outcome where the power is looked for: the square of a larger one hides all others
NEAR_BOUND = 1e-3  # to a bound of the transformed values, which the way back does not pass


class YeoJohnson(WarpedStandardize):
    """The Yeo-Johnson transform of robustly standardized outcomes, standardized again; its power is the likeliest.

    A power below 0 or above 2 has a largest (a smallest) transformed value; predictions beyond it count as just within,
    as in Ax.

    Attributes:
        power: lambda of the source, in [-2, 2] nearly always.

    References:
        Yeo and Johnson (2000), A new family of power transformations to improve normality or symmetry.

    Example:
        >>> import torch
        >>> transform = YeoJohnson(m=1)
        >>> Y = torch.linspace(-1, 3, 9, dtype=torch.float64).exp().unsqueeze(-1)
        >>> U, _ = transform(Y)
        >>> bool((transform.eval().untransform(U)[0] - Y).abs().max() < 1e-9)
        True
    """

    power, center, scale = 1.0, 0.0, 1.0

    def learn(self, Y: Tensor, X: Tensor | None = None) -> None:
        """Take scales and power from ``n x 1`` outcomes, and from where they lie."""
        super().learn(Y, X)
        z = ((Y - self.means) / self.stdvs).clamp(-MOST, MOST)
        self.power, self.center, self.scale = 1.0, 0.0, 1.0
        if z.unique().numel() > 2:  # a power of two values is any
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of powers that overflow on the way
                power = float(yeojohnson_normmax(z.flatten().cpu().numpy()))
            self.power = power if math.isfinite(power) else 1.0
        u = self.warp(z)
        sd = u.std(correction=0).item() if u.numel() > 1 else 0.0
        self.center, self.scale = u.mean().item(), sd if sd > 0 else 1.0

    def warp(self, z: Tensor) -> Tensor:
        """Transform standardized outcomes: positive ones with the power lambda, negative ones with 2 - lambda."""
        up, down = _box_cox(z.clamp_min(0), self.power), _box_cox(-z.clamp_max(0), 2 - self.power)
        return (torch.where(z >= 0, up, -down) - self.center) / self.scale

    def unwarp(self, u: Tensor) -> Tensor:
        """Invert the transform, within its bounds."""
        w = self._within(u)
        return torch.where(w >= 0, _inverse(w.clamp_min(0), self.power), -_inverse(-w.clamp_max(0), 2 - self.power))

    def stretch(self, u: Tensor) -> Tensor:
        """The derivative of the inverse; beyond a bound it is that at the bound."""
        power = torch.where(self._within(u) >= 0, u.new_tensor(self.power, dtype=torch.float32), 2 - self.power)
        return self.scale * (1 + self.unwarp(u).abs()).pow(1 - power)

    def _within(self, u: Tensor) -> Tensor:
        high = -1 / self.power - NEAR_BOUND if self.power < 0 else math.inf
        low = 1 / (2 - self.power) + NEAR_BOUND if self.power > 2 else -math.inf
        return (u * self.scale + self.center).clamp(low, high)


def _box_cox(z: Tensor, power: float) -> Tensor:
    """((1 + z)^power - 1) / power of positive z."""
    return z.log1p() if power == 0 else torch.expm1(power * z.log1p()) / power


def _inverse(w: Tensor, power: float) -> Tensor:
    return w.expm1() if power == 0 else torch.expm1((power * w).log1p() / power)


class PowerTransformGP(PlainGP):
    """The plain GP on outcomes through `YeoJohnson`; no value is ever left out. Arguments as in `MapGP`.

    The paper names Box and Cox, whose transform needs positive outcomes; Ax, which it uses, takes Yeo and Johnson's.

    References:
        Ament et al. (2024), section 6 ("Power Transf.").

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.rand(10, 2, dtype=torch.float64)
        >>> fit(PowerTransformGP(X, X.sum(-1, keepdim=True).exp())).support
        []
    """

    outcome_class: ClassVar = YeoJohnson
