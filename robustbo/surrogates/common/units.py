"""Conversion between a model's own (transformed) units and the outcome's; a transform that is None changes nothing."""

from collections.abc import Callable

import torch
from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

SHORT = 1e-3  # standard deviations, within which a warp is as good as straight


def in_outcome_units(transform: OutcomeTransform | None, mean: Tensor, sd: Tensor) -> tuple[Tensor, Tensor]:
    """``n`` means and standard deviations in the model's own units, in those of the outcome."""
    if transform is None:
        return mean, sd
    mean, variance = transform.untransform(mean.unsqueeze(-1), sd.square().unsqueeze(-1))
    return mean.squeeze(-1), variance.squeeze(-1).sqrt()


def in_model_units(transform: OutcomeTransform | None, mean: Tensor, sd: Tensor) -> tuple[Tensor, Tensor]:
    """``n`` means and standard deviations in the outcome's units, in the model's own."""
    if transform is None:
        return mean, sd
    inside, _ = transform(mean.unsqueeze(-1))
    _, stretch = transform.untransform(inside, torch.ones_like(inside))
    return inside.squeeze(-1), sd / stretch.squeeze(-1).sqrt()


def expectations_in_outcome_units(
    transform: OutcomeTransform | None, targets: Tensor, mean: Tensor, sd: Tensor
) -> tuple[Tensor, Tensor]:
    """What is expected of ``n`` observations, in the outcome's units, and its standard deviations as they are seen.

    An observation is as many standard deviations off as it is in the model's own units: where outcomes are warped a
    standard deviation has no one length, and counts for its length on the way from the expectation to the observation.

    Args:
        transform: Of the outcomes.
        targets: ``n`` observations in the model's own units.
        mean: ``n`` expectations, likewise.
        sd: ``n`` standard deviations, likewise.
    """
    expected, tangent = in_outcome_units(transform, mean, sd)
    if transform is None:
        return expected, tangent
    outcome, _ = in_outcome_units(transform, targets, sd)
    return expected, _along(tangent, sd, targets - mean, outcome - expected)


def errors_in_model_units(
    transform: OutcomeTransform | None, targets: Tensor, expected: Tensor, sd: Tensor
) -> tuple[Tensor, Tensor]:
    """Errors of ``n`` observations in the model's own units, and their standard deviations; inverts the above."""
    mean, tangent = in_model_units(transform, expected, sd)
    if transform is None:
        return targets - mean, sd
    outcome, _ = in_outcome_units(transform, targets, tangent)
    return targets - mean, _along(tangent, sd, outcome - expected, targets - mean)


def _along(tangent: Tensor, sd: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """Standard deviations in other units: along the ways from expectations to values, where these are long enough."""
    is_long = before.abs() > SHORT * sd
    return torch.where(is_long, sd * (after / torch.where(is_long, before, 1.0)).abs(), tangent)


def in_squared_outcome_units(
    transform: OutcomeTransform | None, rho: Tensor, targets: Tensor, expected: Tensor
) -> Tensor:
    """``n`` added variances in squared outcome units: as much more as the square of the error is.

    Args:
        transform: Of the outcomes.
        rho: The variances in the model's own units.
        targets: ``n`` observations, likewise.
        expected: ``n`` expected outcomes.
    """
    if transform is None:
        return rho
    y = targets.unsqueeze(-1)
    (outcome, _), (inside, _) = transform.untransform(y), transform(expected.unsqueeze(-1))
    stretch = (outcome.squeeze(-1) - expected) / (y - inside).squeeze(-1)
    return torch.where(rho > 0, rho * stretch.square(), rho)


def log_density_in_outcome_units(
    log_density: Callable[[Tensor], Tensor], transform: OutcomeTransform | None, Y: Tensor
) -> Tensor:
    """``...`` log densities of outcomes, where the model has a density of its own in its own units.

    Args:
        log_density: The model's, of ``...`` values in its own units.
        transform: Of the outcomes.
        Y: ``...`` outcomes.
    """
    if transform is None:
        return log_density(Y)
    with torch.enable_grad():
        outcome = Y.detach().requires_grad_()
        y = transform(outcome.unsqueeze(-1))[0].squeeze(-1)
        (slope,) = torch.autograd.grad(y.sum(), outcome)
    return log_density(y.detach()) + slope.abs().log()
