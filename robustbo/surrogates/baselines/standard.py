"""The plain GP: the reference for every robust surrogate, on the same base."""

from dataclasses import dataclass, replace

from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit.support_fit import empty
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.warped_gp import WarpedGP, WarpOptions


class PlainGP(MapGP):
    """The base GP without outliers, on outcomes transformed once and for all."""

    def search(self, model: Model) -> Fit:
        """The highest of the maxima that the model's starts lead to."""
        return empty(model).fit


@dataclass(frozen=True, kw_only=True)
class StandardOptions(WarpOptions):
    """The options of `StandardGP`: those of `WarpOptions`."""

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of an exact process, whose noise may be known of some values alone."""
        return replace(super().capabilities, mixes_noise=True)


class StandardGP(WarpedGP, PlainGP):
    """The base GP without outliers: every value counts. Arguments as in `MapGP`, and ``warp`` as in `WarpOptions`.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.rand(10, 2, dtype=torch.float64)
        >>> fit(StandardGP(X, X.sum(-1, keepdim=True))).support
        []
    """

    options_class = StandardOptions
