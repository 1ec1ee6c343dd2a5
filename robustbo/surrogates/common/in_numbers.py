"""A fitted GP in numbers: its kernel, hyperparameters, and what its data's covariance gives, for explicit formulas."""

from typing import Any

import torch
from torch import Tensor

from robustbo.numerics.gp.log_posterior import Model, log_posterior
from robustbo.numerics.gp.posterior import Latent
from robustbo.surrogates.common import priors


class InNumbers:
    """A `MapGP` that tells its fitted process in numbers; its kernel must be a named one."""

    def latents(self) -> list[tuple[float, Latent]]:
        """The fitted processes that it predicts by, with their weights: here one; see `gp.posterior`."""
        return [(1.0, self.latent())]

    def latent(self) -> Latent:
        """The fitted process."""
        gp: Any = self
        model = gp.search_model()
        return self.process(model, gp._theta(model), gp._rho)

    def process(self, model: Model, theta: Tensor, rho: Tensor) -> Latent:
        """The process given the observations, at any hyperparameters and added variances."""
        found = log_posterior(model, theta, rho).evidence
        assert found.converged
        return self._latent(found.m, found.P, found.al, theta)

    def _latent(self, m: Tensor, P: Tensor, al: Tensor, theta: Tensor | None = None) -> Latent:
        gp: Any = self
        return Latent(*self._stationary(theta), m, gp.train_inputs[0], P, al)

    def _stationary(self, theta: Tensor | None = None) -> tuple[str, Tensor, Tensor]:
        """A named kernel, its ``d`` length-scales and its signal variance: the model's own unless given."""
        gp: Any = self
        assert gp._named is not None
        (kernel, is_signal_free), d = gp._named, gp.train_inputs[0].shape[-1]
        x = (priors.get_kernel(gp.covar_module, is_signal_free) if theta is None else theta).exp()
        return kernel, x[:d], x[d] if is_signal_free else torch.ones_like(x[0])
