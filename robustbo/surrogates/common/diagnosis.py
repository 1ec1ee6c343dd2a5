"""Diagnostics of a fitted surrogate's observations."""

from typing import NamedTuple

from torch import Tensor

from robustbo.numerics.student_t.predictive import normal_log_tail


class Diagnostics(NamedTuple):
    """Diagnostics of each of a fitted surrogate's n observations, in the outcome's units.

    Attributes:
        expected: The prediction of the other observations.
        sd: Standard deviation of that prediction, noise included.
        evidence: Log-likelihood ratio of this observation having an error of its own, in nats.
        is_outlier: Whether the surrogate treats the observation as an outlier.
        weight: Its weight in the fit, 1 being full, where the surrogate weighs observations; else None.
    """

    expected: Tensor
    sd: Tensor
    evidence: Tensor
    is_outlier: Tensor
    weight: Tensor | None = None


class Tails(NamedTuple):
    """The error of each of n observations in the model's units, and the log tail probability beyond it."""

    e: Tensor
    log_chance: Tensor


def normal_tails(e: Tensor, sd: Tensor) -> Tails:
    """Errors of ``n`` normal predictions, and the tail probabilities beyond them."""
    return Tails(e, normal_log_tail(e, sd))
