"""Models that weigh their observations: their diagnostics, and which observations they flag."""

import math
from dataclasses import dataclass

from torch import Tensor

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.weighted.map_fit import Weights
from robustbo.numerics.weighted.rcgp import PredictionErrors
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics, Tails, normal_tails
from robustbo.surrogates.common.explicit_posterior import ExplicitPosterior
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.units import expectations_in_outcome_units
from robustbo.validation import whole_number

# Standard deviations. Those of a weighed fit are short: of six loops' flagged values on Hartmann6 39 % were wrong at
# 2.6, the 0.5 % of other surrogates (and 64 % of the wrong ones flagged), 79 % (50 %) at 4.
FAR = 4.0
FAINT = 0.25  # squared weight below which a value may be called an outlier
MOST_ROUNDS = 100  # weights have settled long before


@dataclass(frozen=True, kw_only=True)
class WeightOptions(GPOptions):
    """The options of observations' weights; see `ConjugateGP`."""

    quantile: float = Weights().quantile
    threshold: float | None = None
    rounds: int = Weights().rounds
    is_weighted: bool = Weights().is_weighted

    def check(self) -> None:
        """Raise a ValueError or a TypeError for invalid weights."""
        super().check()
        if not 0 < self.quantile <= 1:
            raise ValueError(f"quantile must lie in (0, 1], got {self.quantile!r}")
        if self.threshold is not None and not 0 < self.threshold < math.inf:
            raise ValueError(f"threshold must be positive, or None for the quantile, got {self.threshold!r}")
        whole_number("rounds", self.rounds, 1, MOST_ROUNDS)

    @property
    def is_robust(self) -> bool:
        """Return whether weights fall with the distance from the expected value."""
        raise NotImplementedError

    @property
    def weight_rule(self) -> Weights:
        """The options as the search takes them."""
        return Weights(self.is_robust, self.quantile, self.threshold, self.rounds, self.is_weighted)

    @property
    def capabilities(self) -> Capabilities:
        """Robust where the weights are."""
        is_robust = self.is_robust
        return Capabilities(is_robust=is_robust, is_heeded=is_robust, is_cubic=True)


class ObservationWeights(ExplicitPosterior):
    """A `MapGP` with an `ExplicitPosterior`; errors and variances are in the model's own (transformed) units."""

    @property
    def leave_one_out(self) -> PredictionErrors:
        """Leave-one-out errors and variances of the values, with the noise of a new measurement."""
        raise NotImplementedError

    @property
    def in_sample(self) -> PredictionErrors:
        """Errors and variances where each value is predicted by all, itself included."""
        raise NotImplementedError

    @property
    def share(self) -> Tensor:
        """``n`` squared weights."""
        raise NotImplementedError

    def tails(self, *, leave_one_out: bool = True) -> Tails:
        """Each observation's error and the chance of one beyond it; see `contract.tails`."""
        e, t = self.leave_one_out if leave_one_out else self.in_sample
        return normal_tails(e, t.sqrt())

    def diagnose(self) -> Diagnostics:
        """The prediction of each observation by the others, its squared weight, and the evidence against it.

        An observation is flagged where it lies `FAR` from the prediction and its squared weight is below `FAINT`,
        unless most of those at its point agree with it.
        """
        self.eval()
        e, t = self.leave_one_out
        is_far = (e.abs() > FAR * t.sqrt()) & (self.share < FAINT)
        transform, y = outcome_transform(self), self.train_targets
        expected, sd = expectations_in_outcome_units(transform, y, y - e, t.sqrt())
        return Diagnostics(expected, sd, gain(e, t), is_far & ~self.is_cleared(), self.share)

    def verdict_on(self, y: Tensor, e: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        """Flagged are those that lie `FAR` from the prediction, where far ones weigh less."""
        return (e.abs() > FAR * v.sqrt()) & self.options.is_robust, None
