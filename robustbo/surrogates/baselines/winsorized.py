"""A baseline: the plain GP on outcomes whose tails are cut where a box plot's whiskers end."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from robustbo.numerics.baselines.box_plot import whiskers
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.options import GPOptions
from robustbo.validation import one_of

SIDES = ("bad", "both")


class Winsorize(Standardize):
    """Outcomes beyond the whiskers count as there, then mean 0 and standard deviation 1.

    Args:
        m: Number of outcomes.
        sides: "bad" cuts what is too low, outcomes being to be maximized; "both" what is too high as well.

    Example:
        >>> Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [-1e9]], dtype=torch.float64)
        >>> Winsorize(m=1)(Y)[0].min() > -2
        tensor(True)
    """

    def __init__(self, m: int, sides: str = SIDES[0]) -> None:
        super().__init__(m=m)
        self.sides = sides
        self.register_buffer("low", torch.tensor(-torch.inf, dtype=torch.float64))
        self.register_buffer("high", torch.tensor(torch.inf, dtype=torch.float64))

    def forward(self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Cut and standardize ``batch x n x m`` outcomes; in training mode, learn where from them first."""
        if self.training:
            self.low, high = whiskers(Y)
            self.high = high if self.sides == "both" else torch.full_like(high, torch.inf)
        return super().forward(Y.clamp(self.low.to(Y), self.high.to(Y)), Yvar, X)


@dataclass(frozen=True, kw_only=True)
class WinsorizedOptions(GPOptions):
    """The options of `WinsorizedGP`; see there."""

    sides: str = SIDES[0]

    def check(self) -> None:
        """Raise a ValueError for unknown sides."""
        super().check()
        one_of("sides", self.sides, SIDES)


class WinsorizedGP(PlainGP):
    """The plain GP on outcomes whose tails are cut; a cut value is flagged and pulls as if it were at the cut.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes, to be maximized.
        sides: Which tails: "bad" (the low one) or "both".

    References:
        Ax's automatic winsorization, after Tukey's box plots; Ament et al. (2024), section 6 ("Adapt. Wins.").

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import diagnose, fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[4] -= 1e6
        >>> diagnose(fit(WinsorizedGP(X, Y))).is_outlier.nonzero().flatten().tolist()
        [4]
    """

    options_class = WinsorizedOptions
    outcome_class: ClassVar = Winsorize

    def new_outcome_transform(self) -> Winsorize:
        """Return the transform with the option `sides`."""
        return Winsorize(m=1, sides=self.options.sides)

    def diagnose(self) -> Diagnostics:
        """Leave-one-out expectations and evidence, of the cut values; the outliers are the values cut."""
        transform, y, diagnostics = outcome_transform(self), self.train_targets, super().diagnose()
        if not isinstance(transform, Winsorize):
            return diagnostics
        low, high = ((cut - transform.means) / transform.stdvs for cut in (transform.low, transform.high))
        return diagnostics._replace(is_outlier=(y <= low.squeeze()) | (y >= high.squeeze()))
