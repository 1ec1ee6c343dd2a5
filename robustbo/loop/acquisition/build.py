"""Acquisition functions by name, and BoTorch's maximization of those that are not ours."""

from typing import TypeGuard

import torch
from botorch.acquisition import AcquisitionFunction, LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models.gpytorch import GPyTorchModel
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from botorch.sampling import SobolQMCNormalSampler
from torch import Tensor

from robustbo.loop.acquisition.log_nei import NUM_SAMPLES, LogNEI, Mixture, StudentTLogExpectedImprovement, is_student_t
from robustbo.numerics.improvement.noisy import MOST
from robustbo.searchspace.encoding import category_counts, discrete_levels, input_columns, input_parameters
from robustbo.searchspace.space import Space
from robustbo.surrogates.common.contract import capabilities, marginals
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.trials.settings import ACQUISITIONS

NUM_RESTARTS = 4
RAW_SAMPLES = 256
CHUNK = 256  # points whose posterior means are computed at once
AT_ONCE = 2**24  # covariances, of points with all points measured, that are computed at once
NEARBY = {"sample_around_best": True}  # as many again, near the best posterior means: a narrow maximum lies there


def build_acquisition(
    name: str,
    model: GPyTorchModel,
    X: Tensor,
    X_pending: Tensor | None,
    seed: int,
    X_best: Tensor | None = None,
    latents: Mixture | None = None,
) -> AcquisitionFunction:
    """An acquisition function of a fitted model that is to be maximized.

    Args:
        name: One of `ACQUISITIONS` but "sobol"; "auto" is `StudentTLogExpectedImprovement` where the posterior is
            Student-t and nothing is pending, else `LogNEI` for surrogates of ours with a named kernel, else qLogNEI.
            The incumbent of LogEI (Student-t or not) and qLogEI is the best posterior mean among the points measured,
            not the best value. LogEI has no closed form with points pending, or where a Student-t process is
            transformed: it is qLogEI then.
        model: A fitted model.
        X: ``n x d`` points measured.
        X_pending: ``p x d`` points asked and not told, or None.
        seed: Of the Monte Carlo samples.
        X_best: ``m x d`` points of which the best is to be improved upon; those measured by default.
        latents: What the `latents` of a model that `has_closed_form` give, where that is at hand.

    Raises:
        ValueError: If there is no acquisition function of that name.
    """
    if name == "auto" and has_closed_form(model):
        return LogNEI(model, X if X_pending is None else torch.cat([X, X_pending]), seed, X_best, latents)
    best = _best_by_mean(model, X if X_best is None else X_best)
    sampler = SobolQMCNormalSampler(torch.Size([NUM_SAMPLES]), seed=seed)
    match name:
        case "auto" | "LogEI" if X_pending is None and is_student_t(model, X):
            return StudentTLogExpectedImprovement(model, best_f=incumbent_value(model, best))
        case "auto" | "qLogNEI":
            return qLogNoisyExpectedImprovement(model, best, sampler=sampler, X_pending=X_pending)
        case "LogEI" if X_pending is None and capabilities(model).is_normal:
            return LogExpectedImprovement(model, best_f=incumbent_value(model, best))
        case "LogEI" | "qLogEI":
            return qLogExpectedImprovement(model, incumbent_value(model, best), sampler=sampler, X_pending=X_pending)
    raise ValueError(f"acquisition must be one of {list(ACQUISITIONS)}, got {name!r}")


def _best_by_mean(model: GPyTorchModel, X: Tensor) -> Tensor:
    """Points, of ``n x d``, of the best posterior means: no other may well be the best."""
    if len(X) <= MOST:
        return X
    with torch.no_grad():
        mean = torch.cat([marginals(model, part)[0] for part in X.split(CHUNK)])
    return X[mean.argsort(descending=True, stable=True)[:MOST].sort().values]


def has_closed_form(model: GPyTorchModel) -> TypeGuard[MapGP]:
    """Return whether a model of ours has fitted processes that say all of its posterior in numbers."""
    return isinstance(model, MapGP) and model.is_named and capabilities(model).is_normal


def incumbent_value(model: GPyTorchModel, X: Tensor) -> Tensor:
    """The best posterior mean among ``n x d`` points."""
    with torch.no_grad():
        return model.posterior(X).mean.max()


def maximize_with_botorch(function: AcquisitionFunction, space: Space, n: int = 0) -> Tensor:
    """The point that maximizes an acquisition function over a space: ``d`` encoded coordinates.

    Continuous spaces go through `optimize_acqf`, from raw samples everywhere and near the best points, spaces with an
    Int or a Choice through BoTorch's alternating mixed optimizer, which has starting points of its own (near the
    measured ones too, unless an Int has more than two levels).

    Args:
        function: The function.
        space: The space.
        n: How many observations its model has: of many, fewer points are computed at once.
    """
    choices, levels_by_column = category_counts(space), discrete_levels(space)
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(1, len(input_columns(space)))
    for column, levels in levels_by_column.items():
        bounds[:, column] = torch.tensor([levels[0], levels[-1]], dtype=torch.float64)
    for column, parameter in enumerate(input_parameters(space)):
        if column in choices:  # of values that it had once none is asked for
            choices[column] = parameter.count or 1
            bounds[1, column] = choices[column] - 1
    if not levels_by_column and not choices:
        options = {**NEARBY, "init_batch_limit": max(1, AT_ONCE // (MOST * max(n, 1)))}
        X, _ = optimize_acqf(function, bounds, q=1, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES, options=options)
    else:
        X, _ = optimize_acqf_mixed_alternating(
            function,
            bounds,
            discrete_dims=levels_by_column,
            cat_dims={column: list(range(count)) for column, count in choices.items()},
            num_restarts=NUM_RESTARTS,
            raw_samples=RAW_SAMPLES,
        )
    return X.squeeze(0)
