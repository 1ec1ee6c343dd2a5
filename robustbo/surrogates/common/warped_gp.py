"""Surrogates that learn the warp of their outcomes together with the hyperparameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.model import Model
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.map_gp import ALL, MapGP
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.surrogates.transforms.learned_warp import LearnedWarp
from robustbo.surrogates.transforms.retransform import original_outcomes, retransform, set_outcomes
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.validation import one_of

FEWEST = 12  # observations from which a warp is learned: among fewer, one wrong value passes for a bend
WARPS: dict[str, type[Standardize]] = {"learned": LearnedWarp, "asinh": RobustArcsinh, "none": RobustStandardize}


@dataclass(frozen=True, kw_only=True)
class WarpOptions(GPOptions):
    """The options of a surrogate that learns its warp.

    Attributes:
        warp: "learned" (`numerics.gp.warp`), "asinh" of the standardized outcomes, or "none".
    """

    warp: str = "learned"

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        one_of("warp", self.warp, sorted(WARPS))


class WarpedGP(MapGP):
    """A `MapGP` that learns the warp of its outcomes; its ``outcome_transform`` is a `LearnedWarp`."""

    options_class = WarpOptions
    outcome_class: ClassVar[type[Standardize]] = LearnedWarp
    _is_straight = False  # whether it has been found that there is no warp

    def new_outcome_transform(self) -> Standardize:
        """Return the transform of the option `warp`."""
        return WARPS[self.options.warp](m=1)

    @property
    def _warp(self) -> LearnedWarp | None:
        transform = outcome_transform(self)
        return transform if isinstance(transform, LearnedWarp) else None

    def search_model(self, rows: Tensor | slice = ALL) -> Model:
        """The model for the search: outcomes before the warp, which is searched too."""
        model, learned = super().search_model(rows), self._warp
        if learned is None:
            return model
        z, s2 = learned.unbend(model.y), model.s2_known
        is_free = len(self.train_targets) >= FEWEST and not self._is_straight
        blocks = warp.FREE if is_free else warp.fixed_warp(warp.NONE)
        if (parts := model.s2_parts) is not None:
            model = model._replace(s2_parts=(parts[0] / learned.variance_slope(z), parts[1]))
        return model._replace(y=z, s2_known=None if s2 is None else s2 / learned.variance_slope(z), warp=blocks)

    def _set_theta(self, model: Model, theta: Tensor) -> None:
        super()._set_theta(model, theta)
        if (learned := self._warp) is not None:
            learned.t, s2 = theta[-len(model.warp) :].clone(), model.s2_known
            s2 = None if s2 is None else s2 * learned.variance_slope(model.y)
            set_outcomes(self, learned.bend(model.y), s2)
            learned.follow(self.train_targets)

    def _theta(self, model: Model) -> Tensor:
        head = super()._theta(model)
        return head if self._warp is None else torch.cat([head, self._warp.t])

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters and the warp; the variances of this model's own rows follow from them."""
        if (learned := self._warp) is None:
            return super().load_state_dict(state_dict, *args, **kwargs)
        Y, Yvar = original_outcomes(self, learned)
        result = super(MapGP, self).load_state_dict(state_dict, *args, **kwargs)
        learned.follow(None)
        retransform(self, learned, Y, Yvar)
        learned.follow(self.train_targets)
        self._renew()
        return result
