"""A GP whose process may differ from a value that stands at many points: a plateau of the objective."""

import torch
from torch import Tensor

from robustbo.numerics.gp.plateau import plateau_variances
from robustbo.surrogates.common.map_gp import ALL
from robustbo.surrogates.common.warped_gp import WarpedGP


class BesidePlateauGP(WarpedGP):
    """A GP that takes the observations of a plateau for noisier than others, where noise is inferred.

    References:
        docs/equations.md (6.23), (6.24).
    """

    def noise_parts(self, rows: Tensor | slice = ALL) -> tuple[Tensor, Tensor] | None:
        """See `RowVariancesGP.noise_parts`; with the variances of a plateau."""
        parts, y = super().noise_parts(), self.train_targets
        if self.may_be_flat and (variances := self._plateau_variances(y)) is not None:
            fixed, share = (torch.zeros_like(y), torch.ones_like(y)) if parts is None else parts
            parts = fixed + variances, share
        return None if parts is None else (parts[0][rows], parts[1][rows])

    @property
    def may_be_flat(self) -> bool:
        """Return whether noise is inferred, and wrong values by our own rule: only there a plateau matters."""
        return self.options.is_grouped and self._noise_variances(ALL) is None

    def _plateau_variances(self, y: Tensor) -> Tensor | None:
        if y.dim() != 1:
            return None
        z = y if self._warp is None else self._warp.unbend(y)  # a plateau is one whatever the warp is
        variances = plateau_variances(self.train_inputs[0], z, self.options.rate(len(y)))
        return variances if variances is None or self._warp is None else variances * self._warp.variance_slope(z)
