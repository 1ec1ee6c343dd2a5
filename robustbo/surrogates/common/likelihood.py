"""Gaussian likelihoods in which single training observations have a variance of their own."""

from typing import Any

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.likelihoods.gaussian_likelihood import _GaussianLikelihoodBase
from gpytorch.settings import min_fixed_noise
from linear_operator.operators import DiagLinearOperator
from torch import Tensor


class DataPrior(MultivariateNormal):
    """The prior of the latent values at a model's own observations, row by row, as its ``forward`` gives it.

    By this a likelihood knows whether it is asked for these or for new measurements, wherever the points lie.
    """


class UnusualDataPrior(DataPrior):
    """A `DataPrior` of a model whose posterior is not that of values with normal noise."""


class OutlierVariances(_GaussianLikelihoodBase):
    """Adds a variance to each training observation: to those of a `DataPrior`, and to nothing else.

    The variances belong to observations, so they are no part of the state, and a new measurement at the same point is
    no outlier.
    """

    rho: Tensor
    parts: tuple[Tensor, Tensor] | None = None  # of the noise, where it is known of some; see `RowVariancesGP`
    usual: Tensor | None = None  # the observations whose noise is that of a measurement; all by default

    def set_outlier_variances(self, rho: Tensor) -> None:
        """Set the variances that are added to the observations (``... x n``)."""
        self.register_buffer("rho", rho, persistent=False)

    @property
    def new_noise(self) -> Tensor:
        """``... x 1`` noise variances of a new measurement: the mean where those of the data are known."""
        noise, usual = self.noise, self.usual
        if usual is not None and noise.shape[-1] > int(usual.max()):  # else it is of other data
            noise = noise[..., usual]
        return noise.mean(dim=-1, keepdim=True)

    def marginal(self, function_dist: MultivariateNormal, *params: Any, **kwargs: Any) -> MultivariateNormal:
        """The distribution of measurements: of the observations where that is their latent values' prior.

        Raises:
            NotImplementedError: For BoTorch's ``efficient_loo_cv``, which names no inputs, where it would be wrong.
        """
        if not isinstance(function_dist, DataPrior) or "noise" in kwargs:
            return super().marginal(function_dist, *params, **kwargs)
        if isinstance(function_dist, UnusualDataPrior) and not params:
            raise NotImplementedError(
                "leave-one-out predictions must be those of the model's own posterior, which is not that of normal "
                "noise; take robustbo.surrogates.common.contract.diagnose(model), or fit again without each value"
            )
        noise = self._of_data(self._shaped_noise_covar(function_dist.mean.shape, *params, **kwargs))
        return MultivariateNormal(function_dist.mean, function_dist.lazy_covariance_matrix + noise)

    def forward(self, function_samples: Tensor, *params: Any, **kwargs: Any) -> torch.distributions.Normal:
        """The distribution of measurements given latent values.

        As many latent values as there are observations, without inputs, are those of the observations, as in GPyTorch
        where noise is known.
        """
        noise = self._shaped_noise_covar(function_samples.shape, *params, **kwargs)
        if not params and "noise" not in kwargs and function_samples.shape[-1] == self.rho.shape[-1]:
            noise = self._of_data(noise)
        return torch.distributions.Normal(function_samples, noise.diagonal(dim1=-1, dim2=-2).sqrt())

    @property
    def data_noise(self) -> Any:
        """The noise covariance of the observations, a diagonal operator."""
        return self._of_data(self._shaped_noise_covar(self.rho.shape))

    def _of_data(self, noise: Any) -> Any:
        """The noise of the observations: with the variance that each has of its own."""
        if self.parts is not None and noise.shape[-1] == len(self.parts[0]):
            fixed, share = self.parts
            noise = DiagLinearOperator(fixed + share * noise.diagonal(dim1=-1, dim2=-2))  # eq. 6.21
        return DiagLinearOperator(noise.diagonal(dim1=-1, dim2=-2) + self.rho) if self.rho.any() else noise

    def get_fantasy_likelihood(self, *, noise: Tensor, **kwargs: Any) -> Any:
        """Return the likelihood of more observations, which come after these.

        Args:
            noise: ``... x m`` noise variances of the new ones.
            kwargs: As in GPyTorch.
        """
        new = super().get_fantasy_likelihood(noise=noise, **kwargs)
        rho = self.rho.expand(*noise.shape[:-1], self.rho.shape[-1])
        new.set_outlier_variances(torch.cat([rho, self._more_than_usual(noise.detach())], -1))
        if self.parts is not None:
            (fixed, share), unit = self.parts, self.rho.new_ones(noise.shape[-1])
            new.parts = torch.cat([fixed, 0 * unit]), torch.cat([share, unit])
        return new

    def _more_than_usual(self, noise: Tensor) -> Tensor:
        """The variances that must be added to the usual noise of ``... x m`` new observations to make it this."""
        raise NotImplementedError


class OutlierGaussianLikelihood(OutlierVariances, GaussianLikelihood):
    """Homoscedastic noise to be learned, and variances of single observations."""

    def _more_than_usual(self, noise: Tensor) -> Tensor:
        return noise - self.noise.detach()


class OutlierFixedNoiseLikelihood(OutlierVariances, FixedNoiseGaussianLikelihood):
    """Known noise, and variances of single observations."""

    def get_fantasy_likelihood(self, *, noise: Tensor, **kwargs: Any) -> Any:
        """Return the likelihood of more observations; known noise stays as it is, however small a warp has made it."""
        with min_fixed_noise(double_value=0.0):
            return super().get_fantasy_likelihood(noise=noise, **kwargs)

    def _more_than_usual(self, noise: Tensor) -> Tensor:
        return torch.zeros_like(noise)
