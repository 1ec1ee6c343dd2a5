"""Scores of a fitted surrogate's predictions of measurements that it was not fitted to."""

import math
from typing import Any, NamedTuple

import torch
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from robustbo.numerics.student_t import distribution
from robustbo.surrogates.common.contract import capabilities, degrees_of_freedom, outcome_transform
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.common.units import in_model_units, in_outcome_units
from robustbo.surrogates.transforms.warp import WarpedStandardize

BLOCK = 1000  # points predicted at a time: a posterior is joint, and its covariance takes their square


class Scores(NamedTuple):
    """Errors of the predictions, in the outcome's units, and the mean negative log density of the measurements."""

    rmse: float
    mae: float
    nlpd: float


def scores(model: GPyTorchModel, X: Tensor, Y: Tensor) -> Scores:
    """Scores of a fitted surrogate, its noise included in the density, by the kind of distribution that it predicts.

    Args:
        model: A fitted surrogate.
        X: ``m x d`` inputs.
        Y: ``m`` measurements in the outcome's units.

    Example:
        >>> from robustbo.surrogates import StandardGP
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 12, dtype=torch.float64).unsqueeze(-1)
        >>> model = fit(StandardGP(X, torch.sin(6 * X)))
        >>> scores(model, X, torch.sin(6 * X).squeeze(-1)).rmse < 0.02
        True
    """
    e, log_density = [], []
    with torch.no_grad(), quiet():
        for x, y in zip(X.split(BLOCK), Y.split(BLOCK), strict=True):
            posterior = model.posterior(x, observation_noise=not capabilities(model).has_predictive)
            e.append(posterior.mean.squeeze(-1) - y)
            log_density.append(_log_density(model, posterior, x, y))
    error = torch.cat(e)
    return Scores(error.square().mean().sqrt().item(), error.abs().mean().item(), -torch.cat(log_density).mean().item())


def _log_density(model: GPyTorchModel, posterior: Any, X: Tensor, y: Tensor) -> Tensor:
    if capabilities(model).has_predictive:
        return model.predictive(X).log_density(y)
    e = posterior.mean.squeeze(-1) - y
    if (df := degrees_of_freedom(posterior)) is not None:
        scale = posterior.scale.squeeze(-1)
        return distribution.log_pdf(e / scale, df) - scale.log()
    return normal_log_density(model, posterior.mean.squeeze(-1), posterior.variance.squeeze(-1), y)


def normal_log_density(model: GPyTorchModel, mean: Tensor, variance: Tensor, y: Tensor) -> Tensor:
    """``m`` log densities of values whose prediction is normal: in the model's own units, where outcomes are warped.

    Args:
        model: A fitted surrogate.
        mean: ``m`` means in the outcome's units.
        variance: ``m`` variances, likewise.
        y: ``m`` values, likewise.
    """
    transform = outcome_transform(model)
    if not isinstance(transform, WarpedStandardize):
        return -0.5 * ((y - mean).square() / variance + (2 * math.pi * variance).log())
    inside, sd = in_model_units(transform, mean, variance.sqrt())
    at, _ = in_model_units(transform, y, torch.ones_like(y))
    _, per_unit = in_outcome_units(transform, at, torch.ones_like(at))
    return -0.5 * ((at - inside) / sd).square() - (math.sqrt(2 * math.pi) * sd * per_unit).log()
