"""Acquisition functions by name, and their maximization over continuous and mixed spaces."""

from typing import Any

import torch
from botorch.acquisition import AcquisitionFunction, LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models.gpytorch import GPyTorchModel
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from botorch.sampling import SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_normal_samples
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from robustbo import seeds
from robustbo.fitting import Fitted, categories, encode
from robustbo.isolation import isolated
from robustbo.numerics.improvement import Improvement, log_improvement, over
from robustbo.parameters import Choice
from robustbo.settings import ACQUISITIONS
from robustbo.space import Space
from robustbo.surrogates.base import quiet
from robustbo.surrogates.map_gp import MapGP

NUM_SAMPLES = 128  # quasi-random posterior samples of the Monte Carlo functions
NUM_RESTARTS = 4
RAW_SAMPLES = 256


def build(name: str, model: GPyTorchModel, X: Tensor, X_pending: Tensor | None, seed: int) -> AcquisitionFunction:
    """An acquisition function of a fitted model that is to be maximized.

    Args:
        name: One of `ACQUISITIONS` but "sobol"; "auto" is `LogNEI` for surrogates of ours with a named kernel, else
            qLogNEI. The incumbent of LogEI and qLogEI is the best posterior mean among the points measured, not the
            best value. LogEI has no closed form with points pending: it is qLogEI then.
        model: A fitted model.
        X: ``n x d`` points measured.
        X_pending: ``p x d`` points asked and not told, or None.
        seed: Of the Monte Carlo samples.

    Raises:
        ValueError: If there is no acquisition function of that name.
    """
    if name == "auto" and isinstance(model, MapGP) and model.is_named:
        return LogNEI(model, X if X_pending is None else torch.cat([X, X_pending]), seed)
    sampler = SobolQMCNormalSampler(torch.Size([NUM_SAMPLES]), seed=seed)
    match name:
        case "auto" | "qLogNEI":
            return qLogNoisyExpectedImprovement(model, X, sampler=sampler, X_pending=X_pending)
        case "LogEI" if X_pending is None:
            return LogExpectedImprovement(model, best_f=_incumbent_value(model, X))
        case "LogEI" | "qLogEI":
            return qLogExpectedImprovement(model, _incumbent_value(model, X), sampler=sampler, X_pending=X_pending)
    raise ValueError(f"acquisition must be one of {list(ACQUISITIONS)}, got {name!r}")


def _incumbent_value(model: GPyTorchModel, X: Tensor) -> Tensor:
    with torch.no_grad():
        return model.posterior(X).mean.max()


class LogNEI(AcquisitionFunction):
    """The logarithm of noisy expected improvement of one point: qLogNEI with its last integral in closed form.

    Args:
        model: A fitted surrogate with a named kernel.
        X_baseline: ``n x d`` points measured, and points pending.
        seed: Of the quasi-random samples.

    References:
        `robustbo.numerics.improvement`.
    """

    def __init__(self, model: MapGP, X_baseline: Tensor, seed: int) -> None:
        super().__init__(model)
        with torch.no_grad():
            Z = model.transform_inputs(X_baseline).unique(dim=0)
            normal = draw_sobol_normal_samples(len(Z), NUM_SAMPLES, dtype=Z.dtype, seed=seed)
            self._to = over(model.latent(), Z, normal)

    @t_batch_mode_transform(expected_q=1)
    def forward(self, X: Tensor) -> Tensor:
        """The logarithm at ``b x 1 x d`` points, of an improvement in the model's own (transformed) outcomes."""
        return _LogImprovement.apply(self.model.transform_inputs(X).squeeze(-2), self._to)


class _LogImprovement(torch.autograd.Function):
    """`log_improvement` with its explicit gradient."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, to: Improvement) -> Tensor:
        value, gradient = log_improvement(to, X)
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    def backward(ctx: Any, by_value: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return by_value.unsqueeze(-1) * gradient, None


def maximize(function: AcquisitionFunction, space: Space) -> Tensor:
    """The point that maximizes an acquisition function over a space: ``d`` encoded coordinates.

    Continuous spaces go through `optimize_acqf`, spaces with an Int or a Choice through BoTorch's alternating mixed
    optimizer.
    """
    choices = categories(space)
    discrete = {
        i: p.levels for i, (_, p) in enumerate(space.parameters) if not isinstance(p, Choice) and p.levels is not None
    }
    bounds = torch.tensor([[0.0] * len(space), [1.0] * len(space)], dtype=torch.float64)
    for column, levels in discrete.items():
        bounds[:, column] = torch.tensor([levels[0], levels[-1]], dtype=torch.float64)
    for column, count in choices.items():
        bounds[1, column] = count - 1
    if not discrete and not choices:
        X, _ = optimize_acqf(function, bounds, q=1, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES)
    else:
        X, _ = optimize_acqf_mixed_alternating(
            function,
            bounds,
            discrete_dims=discrete,
            cat_dims={column: list(range(count)) for column, count in choices.items()},
            num_restarts=NUM_RESTARTS,
            raw_samples=RAW_SAMPLES,
        )
    return X.squeeze(0)


def next_point(name: str, fitted: Fitted, space: Space, pending: list[list[float]], seed: int) -> Tensor:
    """Where to measure next: ``d`` encoded coordinates; a pure function of its arguments.

    Args:
        name: One of `ACQUISITIONS`.
        fitted: The surrogate.
        space: The search space.
        pending: Unit-cube rows of the points asked and not told.
        seed: Of everything random in here.
    """
    X_pending = encode(space, pending) if pending else None
    with isolated(seed), quiet():
        function = build(name, fitted.model, fitted.X, X_pending, seeds.derive(seed, 0, "samples") % 2**31)
        return maximize(function, space)
