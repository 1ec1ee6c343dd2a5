"""The control that every robust surrogate has to beat: robust scaling, a clip, and the plain GP."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize, deviation

CLIP = 5.0  # robust standard deviations


class ClippedStandardize(RobustStandardize):
    """Median and median absolute deviation, then a clip on both sides.

    Args:
        m: Number of outcomes.
        clip: Robust standard deviations beyond which a value counts as one at that distance.
    """

    def __init__(self, m: int, clip: float = CLIP) -> None:
        super().__init__(m=m)
        self.clip = clip

    def forward(self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Standardize and clip ``batch x n x m`` outcomes; in training mode, learn center and scale from them first."""
        Y_tf, Yvar_tf = super().forward(Y, Yvar, X)
        return Y_tf.clamp(-self.clip, self.clip), Yvar_tf

    def spread(self, Y: Tensor, center: Tensor) -> Tensor:
        """The median absolute deviation, as large as a normal sample's standard deviation."""
        return deviation(Y, center)


@dataclass(frozen=True, kw_only=True)
class ScaledClipOptions(GPOptions):
    """The options of `ScaledClipGP`; see there."""

    clip: float = CLIP

    def check(self) -> None:
        """Raise a ValueError for an invalid clip."""
        super().check()
        if not self.clip > 0:
            raise ValueError(f"clip must be positive, got {self.clip!r}")


class ScaledClipGP(PlainGP):
    """The plain GP on outcomes scaled by median and median absolute deviation and clipped; no outlier is ever left out.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        clip: Robust standard deviations beyond which a value counts as one at that distance, and is flagged.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import diagnose, fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[4] += 1e6
        >>> diagnose(fit(ScaledClipGP(X, Y))).is_outlier.nonzero().flatten().tolist()
        [4]
    """

    options_class = ScaledClipOptions
    outcome_class: ClassVar = ClippedStandardize

    def new_outcome_transform(self) -> ClippedStandardize:
        """Return the transform with the option `clip`."""
        return ClippedStandardize(m=1, clip=self.options.clip)

    def diagnose(self) -> Diagnostics:
        """Leave-one-out expectations and evidence, of the clipped values; the outliers are the values clipped."""
        return super().diagnose()._replace(is_outlier=self.train_targets.abs() >= self.options.clip)
