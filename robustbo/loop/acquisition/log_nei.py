"""Acquisition functions of our own: closed forms with explicit gradients, for one point at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.sampling import draw_sobol_normal_samples
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor
from torch.autograd.function import once_differentiable

from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.improvement import student_t
from robustbo.numerics.improvement.noisy import Improvement, contenders, log_improvement, over
from robustbo.surrogates.common.contract import degrees_of_freedom
from robustbo.surrogates.common.map_gp import MapGP

NUM_SAMPLES = 128  # quasi-random posterior samples
THIN = 8  # of which one counts where a coarse function will do
MIN_SCALE = 1e-6  # as in BoTorch's analytic functions


Mixture = Sequence[tuple[float, LatentProcess]]  # weights, and processes with the same kernel and inputs


def multiply_by_sign(mixture: Mixture, sign: float) -> Mixture:
    """The processes of an outcome times a sign, 1 or -1."""
    return [(p, latent._replace(m=sign * latent.m, al=sign * latent.al)) for p, latent in mixture]


class ClosedForm(AcquisitionFunction):
    """An acquisition function of one point whose logarithm is a formula, with its gradient.

    A subclass says what is computed (`_evaluate`), of what (`_to`), and of what else where a coarse function will do
    (`_thin`).

    Args:
        model: What it is of.
        inputs: From points to those that the formula takes.
    """

    _log = True
    _to: Any

    def __init__(self, model: Model, inputs: Callable[[Tensor], Tensor]) -> None:
        super().__init__(model)
        self._inputs = inputs

    @t_batch_mode_transform(expected_q=1)
    def forward(self, X: Tensor) -> Tensor:
        """The logarithm at ``b x 1 x d`` points, of an improvement in the model's own (transformed) outcomes."""
        return ExplicitGradient.apply(self._inputs(X).squeeze(-2), self._evaluate)

    def value_and_gradient(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """The logarithm at ``b x d`` points, and the gradient there, ``b x d``: without automatic differentiation."""
        Z, pull = transform_with_pullback(self._inputs, X)
        value, slope = self._evaluate(Z, True)
        assert slope is not None
        return value, pull(slope)

    @contextmanager
    def fewer_samples(self) -> Iterator[None]:
        """Run the block with an eighth of the samples."""
        exact = self._to
        self._to = self._thin(exact)
        try:
            yield
        finally:
            self._to = exact

    def _evaluate(self, Z: Tensor, is_sloped: bool) -> tuple[Tensor, Tensor | None]:
        raise NotImplementedError

    def _thin(self, to: Any) -> Any:
        raise NotImplementedError


class ExplicitGradient(torch.autograd.Function):
    """A value of ``q x d`` points with its explicit gradient: a function of them and of whether that is wanted."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, tell: Callable[[Tensor, bool], tuple[Tensor, Tensor | None]]) -> Tensor:
        value, gradient = tell(X, ctx.needs_input_grad[0])
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_value: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return by_value.unsqueeze(-1) * gradient, None


class LogNEI(ClosedForm):
    """The logarithm of noisy expected improvement of one point: qLogNEI with its last integral in closed form.

    Of a model that predicts by several fits, it is that of their mixture, the weighted mean of the improvements.

    Args:
        model: A fitted surrogate with a named kernel.
        X_baseline: ``n x d`` points measured, and points pending.
        seed: Of the quasi-random samples.
        X_best: ``m x d`` points of which the best is to be improved upon; the baseline by default.
        latents: What the model's `latents` gives, where that is at hand.

    References:
        `robustbo.numerics.improvement.noisy`.
    """

    def __init__(
        self,
        model: MapGP,
        X_baseline: Tensor,
        seed: int,
        X_best: Tensor | None = None,
        latents: Mixture | None = None,
    ) -> None:
        super().__init__(model, model.transform_inputs)
        with torch.no_grad():
            weights, processes = zip(*(model.latents() if latents is None else latents), strict=True)
            Z = model.transform_inputs(X_baseline)
            best = Z if X_best is None else model.transform_inputs(X_best)
            pending = unique_rows(Z[~is_among(Z, processes[0].X)])
            measured = unique_rows(best[~is_among(best, pending)])
            measured = contenders(processes, measured)
            Z = torch.cat([measured, pending])
            normal = draw_sobol_normal_samples(len(Z), NUM_SAMPLES, dtype=Z.dtype, seed=seed)
            is_pending = torch.arange(len(Z)) >= len(measured)
            counts = is_among(Z, best) | is_pending  # what is pending may be the best, too
            self._to = over(processes, Z.new_tensor(weights).log(), Z, normal, counts, is_pending)

    def _evaluate(self, Z: Tensor, is_sloped: bool) -> tuple[Tensor, Tensor | None]:
        return log_improvement(self._to, Z, is_sloped=is_sloped)

    def _thin(self, to: Improvement) -> Improvement:
        return to._replace(a=to.a[..., ::THIN].copy(), best=to.best[..., ::THIN].copy())


def transform_with_pullback(
    transform: Callable[[Tensor], Tensor] | None, X: Tensor
) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Transformed points, and what takes gradients there to gradients at the points themselves."""
    with torch.enable_grad():
        at = X.detach().requires_grad_()
        Z = at if transform is None else transform(at)
    return Z.detach(), lambda slope: slope if Z is at else torch.autograd.grad(Z, at, slope)[0]


def unique_rows(X: Tensor) -> Tensor:
    """The different rows."""
    return torch.from_numpy(np.unique(X.numpy(), axis=0))


def is_among(X: Tensor, rows: Tensor) -> Tensor:
    """Booleans: whether each row of one tensor is a row of another."""
    row_set = set(map(tuple, rows.tolist()))
    return torch.tensor([tuple(row) in row_set for row in X.tolist()], dtype=torch.bool)


class StudentTLogExpectedImprovement(AnalyticAcquisitionFunction):
    """The logarithm of expected improvement under a Student-t posterior: in closed form, its heavy tail included.

    Far below the incumbent it falls as a power of the distance, where the normal one falls as its square.

    Args:
        model: A fitted model of one outcome whose posterior has ``mean`` (the location), ``scale`` and ``df``: one
            number or one a point, more than 1, since with fewer degrees of freedom the improvement is infinite.
        best_f: The incumbent: a number, or ``b`` of them.
        posterior_transform: As in BoTorch.
        maximize: Whether larger is better.

    References:
        docs/equations.md section 5; Tracey and Wolpert (2018), Upgrading from Gaussian processes to Student's-t
        processes.

    Example:
        >>> from robustbo.surrogates import StudentTProcess
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 9, dtype=torch.float64).unsqueeze(-1)
        >>> model = fit(StudentTProcess(X, torch.sin(6 * X)))
        >>> log_ei = StudentTLogExpectedImprovement(model, best_f=model.posterior(X).mean.max().detach())
        >>> log_ei(X[:2].unsqueeze(1)).shape
        torch.Size([2])
    """

    _log = True

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        super().__init__(model, posterior_transform)
        self.register_buffer("best_f", torch.as_tensor(best_f))
        self.maximize = maximize

    @t_batch_mode_transform(expected_q=1)
    def forward(self, X: Tensor) -> Tensor:
        """The logarithm at ``b x 1 x d`` points."""
        self.to(X)
        posterior = self.model.posterior(X, posterior_transform=self.posterior_transform)
        mean, scale = posterior.mean.squeeze(-1).squeeze(-1), posterior.scale.squeeze(-1).squeeze(-1)
        scale, df = scale.clamp_min(MIN_SCALE), posterior.df
        df = df.squeeze(-1).squeeze(-1) if df.dim() == posterior.mean.dim() else df
        z = (mean - self.best_f) / scale if self.maximize else (self.best_f - mean) / scale
        return student_t.log_improvement(z, df) + scale.log()  # eq. 5.1


def is_student_t(model: Model, X: Tensor) -> bool:
    """Return whether a model's posterior at points like these has degrees of freedom."""
    with torch.no_grad():
        return degrees_of_freedom(model.posterior(X[:1])) is not None
