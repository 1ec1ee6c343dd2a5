"""Models that weigh their observations: what they say of each, and which they call outliers."""

import math

from torch import Tensor

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.weighted.rcgp import LeaveOneOut
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import Diagnosis, Tails, normal_tails, outcome_transform
from robustbo.surrogates.common.explicit_posterior import ExplicitPosterior
from robustbo.surrogates.common.units import in_outcome_units
from robustbo.validation import whole

# Standard deviations. Those of a weighed fit are short: of six loops' flagged values on Hartmann6 39 % were wrong at
# 2.6, the 0.5 % of other surrogates (and 64 % of the wrong ones flagged), 79 % (50 %) at 4.
FAR = 4.0
FAINT = 0.25  # squared weight below which a value may be called an outlier
MOST_ROUNDS = 100  # weights have settled long before

WEIGHED = Capabilities(is_robust=True, is_heeded=True, is_too_sure=True)


class Weighed(ExplicitPosterior):
    """A `MapGP` with an `ExplicitPosterior`; errors and variances are in the model's own (transformed) units."""

    @property
    def left_out(self) -> LeaveOneOut:
        """Leave-one-out errors and variances of the values, with the noise of a new measurement."""
        raise NotImplementedError

    @property
    def in_sample(self) -> LeaveOneOut:
        """The same where each value is predicted by all, itself included."""
        raise NotImplementedError

    @property
    def share(self) -> Tensor:
        """``n`` squared weights."""
        raise NotImplementedError

    def tails(self, *, leave_one_out: bool = True) -> Tails:
        """Each observation's error and the chance of one beyond it; see `contract.tails`."""
        e, t = self.left_out if leave_one_out else self.in_sample
        return normal_tails(e, t.sqrt())

    def diagnose(self) -> Diagnosis:
        """The prediction of each observation by the others, its squared weight, and the evidence against it.

        An observation is flagged where it lies `FAR` from the prediction and its squared weight is below `FAINT`,
        unless most of those at its point agree with it.
        """
        self.eval()  # type: ignore[attr-defined]
        e, t = self.left_out
        is_far = (e.abs() > FAR * t.sqrt()) & (self.share < FAINT)
        expected, sd = in_outcome_units(outcome_transform(self), self.train_targets - e, t.sqrt())  # type: ignore[attr-defined]
        return Diagnosis(expected, sd, gain(e, t), is_far & ~self.cleared(), self.share)  # type: ignore[attr-defined]


def check_weights(quantile: float, threshold: float | None, rounds: int) -> None:
    """Raise a ValueError or a TypeError for weights that cannot be."""
    if not 0 < quantile <= 1:
        raise ValueError(f"quantile must lie in (0, 1], got {quantile!r}")
    if threshold is not None and not 0 < threshold < math.inf:
        raise ValueError(f"threshold must be positive, or None for the quantile, got {threshold!r}")
    whole("rounds", rounds, 1, MOST_ROUNDS)
