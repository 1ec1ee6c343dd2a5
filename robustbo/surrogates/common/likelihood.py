"""Gaussian likelihoods in which single training observations have a variance of their own."""

from typing import Any

import torch
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood, Likelihood
from linear_operator.operators import DiagLinearOperator
from torch import Tensor


class OutlierVariances(Likelihood):
    """Adds a variance to each training observation, which it knows by their inputs, all of them in a row.

    The variances belong to observations, so they are no part of the state, and a new measurement at the same point is
    no outlier. GPyTorch hands over the inputs of the data as a list, and people the model's own tensor of them; any
    other tensor is of new measurements, not even where its rows are all inputs of the data.
    """

    rho_inputs: Tensor

    def set_outlier_variances(self, inputs: Tensor, rho: Tensor) -> None:
        """Say which training inputs (``n x d``, transformed) have which added variances (``n``)."""
        self.register_buffer("rho_inputs", inputs, persistent=False)
        self.register_buffer("rho", rho, persistent=False)

    @property
    def outlier_variances(self) -> Tensor | None:
        """The ``n`` added variances, None where none have been said."""
        return self._buffers.get("rho")

    def _shaped_noise_covar(self, base_shape: torch.Size, *params: Any, **kwargs: Any) -> Any:
        noise = super()._shaped_noise_covar(base_shape, *params, **kwargs)
        if not params or (rho := self.outlier_variances) is None or not rho.any():
            return noise
        is_of_data = (
            self._are_listed(*params[0]) if isinstance(params[0], list | tuple) else params[0] is self.rho_inputs
        )
        return noise + DiagLinearOperator(rho.expand(noise.shape[:-1])) if is_of_data else noise

    def _are_listed(self, inputs: Tensor, *_: Tensor) -> bool:
        own = self.rho_inputs
        return inputs.shape[-2:] == own.shape[-2:] and torch.equal(inputs, own.expand_as(inputs))


class OutlierGaussianLikelihood(OutlierVariances, GaussianLikelihood):
    """Homoscedastic noise to be learned, and variances of single observations."""


class OutlierFixedNoiseLikelihood(OutlierVariances, FixedNoiseGaussianLikelihood):
    """Known noise, and variances of single observations."""
