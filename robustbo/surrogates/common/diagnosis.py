"""What a fitted surrogate says of its observations."""

from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.student_t.predictive import normal_log_tail


class Diagnostics(NamedTuple):
    """What a fitted surrogate says of each of its n observations, in the outcome's units.

    Attributes:
        expected: What the other observations predict.
        sd: Standard deviation of that prediction, noise included.
        evidence: Log-likelihood ratio of this observation having an error of its own, in nats.
        is_outlier: Whether the surrogate treats it as one.
        weight: How much it counts in the fit, 1 being all, where the surrogate weighs observations; else None.
    """

    expected: Tensor
    sd: Tensor
    evidence: Tensor
    is_outlier: Tensor
    weight: Tensor | None = None


class Tails(NamedTuple):
    """How far out each of n observations lies: its error in the model's units, and the log chance of one beyond."""

    e: Tensor
    log_chance: Tensor


def normal_tails(e: Tensor, sd: Tensor) -> Tails:
    """Errors of ``n`` predictions that are normal, and the chances of ones beyond."""
    return Tails(e, normal_log_tail(e, sd))
