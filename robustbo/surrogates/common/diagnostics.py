"""Diagnostics of a fitted surrogate's observations."""

from typing import NamedTuple

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

from robustbo.numerics.gp.leave_one_out import leave_one_out
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.student_t.predictive import normal_log_tail
from robustbo.surrogates.common.units import expectations_in_outcome_units


class Diagnostics(NamedTuple):
    """Diagnostics of each of a fitted surrogate's n observations, in the outcome's units.

    Attributes:
        expected: The prediction of the other observations.
        sd: Standard deviation of that prediction, noise included; where outcomes are warped, or their noise has tails,
            towards the observation.
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


def diagnose_by_leave_one_out(model: GPyTorchModel, rho: Tensor, transform: OutcomeTransform | None) -> Diagnostics:
    """Leave-one-out expectations and evidence of an exact GP; the outliers are where rho is positive.

    Args:
        model: A fitted exact GP.
        rho: ``n`` variances that its likelihood adds to single observations, in the model's own (transformed) units.
        transform: The transform of the model's outcomes, or None.
    """
    model.eval()
    X, y = model.train_inputs[0], model.train_targets
    with torch.no_grad():
        prior = model.likelihood(model.forward(X), [X])
        mean, variance = leave_one_out(y - prior.mean, prior.covariance_matrix - torch.diag(rho), rho)
        evidence = gain(y - prior.mean - mean, variance)
        expected, sd = expectations_in_outcome_units(transform, y, mean + prior.mean, variance.sqrt())
    return Diagnostics(expected, sd, evidence, rho > 0)
