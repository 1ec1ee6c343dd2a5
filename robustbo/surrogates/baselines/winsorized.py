"""A baseline: the plain GP on outcomes whose tails are cut where a box plot's whiskers end."""

from typing import Any, ClassVar

import torch
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform, Standardize
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import Likelihood
from gpytorch.means import Mean
from gpytorch.module import Module
from torch import Tensor

from robustbo.numerics.baselines.box_plot import whiskers
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import Diagnosis, outcome_transform
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


class WinsorizedGP(StandardGP):
    """The plain GP on outcomes whose tails are cut; what is cut is flagged and pulls as if it were at the cut.

    Args:
        train_X: ``n x d`` inputs; all that is not said here is as in `MapGP`.
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

    outcome_class: ClassVar = Winsorize

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: Likelihood | None = None,
        covar_module: Module | None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | Any = DEFAULT,
        input_transform: InputTransform | None = None,
        *,
        sides: str = SIDES[0],
        kernel: str = "matern52",
        is_signal_free: bool = True,
    ) -> None:
        self.check_values(sides)
        super().__init__(
            train_X,
            train_Y,
            train_Yvar,
            likelihood,
            covar_module,
            mean_module,
            Winsorize(m=1, sides=sides) if outcome_transform is DEFAULT else outcome_transform,
            input_transform,
            kernel=kernel,
            is_signal_free=is_signal_free,
        )

    @classmethod
    def check_values(cls, sides: str = SIDES[0], **_: Any) -> None:
        """Raise a ValueError for sides that there are not."""
        one_of("sides", sides, SIDES)

    def diagnose(self) -> Diagnosis:
        """Leave-one-out expectations and evidence, of the cut values; the outliers are what was cut."""
        transform, y, found = outcome_transform(self), self.train_targets, super().diagnose()
        if not isinstance(transform, Winsorize):
            return found
        low, high = ((cut - transform.means) / transform.stdvs for cut in (transform.low, transform.high))
        return found._replace(is_outlier=(y <= low.squeeze()) | (y >= high.squeeze()))
