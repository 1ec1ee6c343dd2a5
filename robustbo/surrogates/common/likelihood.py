"""Gaussian likelihoods in which single training observations have a variance of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from linear_operator.operators import DiagLinearOperator
from torch import Tensor


class OutlierVariances:
    """Adds a variance to each training observation, which it knows by their inputs, all of them in a row.

    The variances belong to observations, so they are no part of the state, and a new measurement at the same point is
    no outlier: where the row may be one of new measurements, say so by `of_new_measurements`.
    """

    rho_inputs: Tensor
    _is_for_new = False

    @contextmanager
    def of_new_measurements(self) -> Iterator[None]:
        """Within the block no measurement is an outlier, not even where all inputs of the data are measured again."""
        self._is_for_new = True
        try:
            yield
        finally:
            self._is_for_new = False

    def set_outlier_variances(self, inputs: Tensor, rho: Tensor) -> None:
        """Say which training inputs (``n x d``, transformed) have which added variances (``n``)."""
        self.register_buffer("rho_inputs", inputs, persistent=False)  # type: ignore[attr-defined]
        self.register_buffer("rho", rho, persistent=False)  # type: ignore[attr-defined]

    @property
    def outlier_variances(self) -> Tensor | None:
        """The ``n`` added variances, None where none have been said."""
        return self._buffers.get("rho")  # type: ignore[attr-defined]

    def _shaped_noise_covar(self, base_shape: torch.Size, *params: Any, **kwargs: Any) -> Any:
        noise = super()._shaped_noise_covar(base_shape, *params, **kwargs)  # type: ignore[misc]
        inputs = params[0][0] if params and isinstance(params[0], list | tuple) else params[0] if params else None
        if self._is_for_new or inputs is None or (rho := self.outlier_variances) is None or not rho.any():
            return noise
        own = self.rho_inputs
        if inputs.shape[-2:] != own.shape[-2:] or not torch.equal(inputs, own.expand_as(inputs)):
            return noise
        return noise + DiagLinearOperator(rho.expand(noise.shape[:-1]))


class OutlierGaussianLikelihood(OutlierVariances, GaussianLikelihood):
    """Homoscedastic noise to be learned, and variances of single observations."""


class OutlierFixedNoiseLikelihood(OutlierVariances, FixedNoiseGaussianLikelihood):
    """Known noise, and variances of single observations."""
