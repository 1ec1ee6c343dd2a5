"""Conversion between a model's own (transformed) units and the outcome's; a transform that is None changes nothing."""

from collections.abc import Callable

import torch
from botorch.models.transforms.outcome import OutcomeTransform, Standardize
from torch import Tensor


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
    """Expectations of ``n`` observations in the outcome's units, and their standard deviations towards these.

    Where outcomes are warped a standard deviation is as long as the way to the quantile on the side of the observation
    that is one away in the model's own units; and where that would bring a distant observation nearer than it is, as
    long as leaves it as many away. So an observation is within one if and only if it is so in the model's own units.

    Args:
        transform: Of the outcomes.
        targets: ``n`` observations in the model's own units.
        mean: ``n`` expectations, likewise.
        sd: ``n`` standard deviations, likewise.
    """
    if transform is None:
        return mean, sd
    e = targets - mean
    expected, side, outcome = (
        in_outcome_units(transform, x, sd)[0] for x in (mean, mean + torch.where(e < 0, -sd, sd), targets)
    )
    off = (e / sd).abs()
    is_distant = off > 1
    as_many_away = (outcome - expected).abs() / torch.where(is_distant, off, 1.0)
    one_away = (side - expected).abs()
    return expected, torch.where(is_distant, one_away.minimum(as_many_away), one_away)


def errors_in_model_units(
    transform: OutcomeTransform | None, targets: Tensor, expected: Tensor, sd: Tensor
) -> tuple[Tensor, Tensor]:
    """Errors of ``n`` observations in the model's own units, and their standard deviations: inverts the above."""
    mean, _ = in_model_units(transform, expected, sd)
    e = targets - mean
    if transform is None:
        return e, sd
    outcome, _ = in_outcome_units(transform, targets, sd)
    side, _ = in_model_units(transform, expected + torch.where(e < 0, -sd, sd), sd)
    one_away, way = (side - mean).abs(), (outcome - expected).abs()
    is_distant = way > sd
    as_many_away = sd * e.abs() / torch.where(is_distant, way, 1.0)
    return e, torch.where(is_distant, one_away.maximum(as_many_away), one_away)


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


def outcome_units(transform: OutcomeTransform | None) -> tuple[Tensor, Tensor]:
    """Center and scale of a transform of outcomes; 0 and 1 where it has none."""
    if isinstance(transform, Standardize):
        return transform.means, transform.stdvs
    return torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
