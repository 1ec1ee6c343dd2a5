"""The evidence of a Student-t process's prior by Laplace's approximation, as GPyTorch's optimizers take it."""

from typing import Any

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.mlls import MarginalLogLikelihood
from torch import Tensor

from robustbo.numerics.student_t.laplace import Noise, approximate, gradient
from robustbo.numerics.student_t.mode import cold_starts, find_mode


class LaplaceMarginalLogLikelihood(MarginalLogLikelihood):
    """The clamped evidence plus log prior densities, divided by n as in `ExactMarginalLogLikelihood`.

    Args:
        likelihood: A likelihood whose ``noise`` is a squared scale and which has a ``dof``.
        model: Its GP.

    References:
        docs/equations.md sections 2.3 and 2.4; the gradient is explicit, its implicit part included.
    """

    def forward(self, function_dist: MultivariateNormal, target: Tensor, *params: Any, **kwargs: Any) -> Tensor:
        """The evidence of ``n`` targets under a prior of their latent values."""
        K, s2 = function_dist.covariance_matrix, self.likelihood.noise.squeeze()
        value = _Evidence.apply(K, function_dist.mean, s2, target, self.likelihood.dof)
        for _, module, prior, closure, _ in self.model.named_priors():  # the likelihood's among them, once
            value = value + prior.log_prob(closure(module)).sum()
        return value / target.shape[-1]


class _Evidence(torch.autograd.Function):
    """`laplace.approximate` at the highest mode, with `laplace.gradient`."""

    @staticmethod
    def forward(ctx: Any, K: Tensor, mean: Tensor, s2: Tensor, y: Tensor, nu: Tensor) -> Tensor:
        noise, r = Noise(s2, nu), y - mean
        mode = find_mode(K, r, noise, cold_starts(K, r, noise))
        laplace = approximate(K, r, torch.zeros_like(s2).sum(), noise, mode.a, is_clamped=True)
        by = gradient(laplace)
        log_s2 = by.log_s2 if s2.dim() else by.log_s2.sum()
        ctx.save_for_backward(0.5 * (by.K + by.K.mT), by.m, log_s2 / s2, by.log_nu / nu)
        return laplace.L

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        by_K, by_mean, by_s2, by_nu = ctx.saved_tensors
        return slope * by_K, slope * by_mean, slope * by_s2, -slope * by_mean, slope * by_nu
