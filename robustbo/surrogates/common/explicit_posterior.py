"""Models whose posterior of the latent values has its own formula, in place of GPyTorch's exact inference."""

from typing import Any

from botorch.sampling.pathwise.features import KernelEvaluationMap
from botorch.sampling.pathwise.paths import GeneralizedLinearPath, SamplePath
from botorch.sampling.pathwise.utils import get_input_transform
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor

from robustbo.surrogates.common.cached_posterior import CachedPosterior


class ExplicitPosterior(CachedPosterior):
    """A `MapGP` that computes itself how the data move mean and covariance of the latent values."""

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return the move of the mean by the data, and their reduction of the covariance.

        Args:
            k: ``... x q x n`` prior covariances of latent values with those at the training inputs.

        Returns:
            ``... x q`` and ``... x q x q``.
        """
        raise NotImplementedError

    def explain_at(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return `explain` at ``... x q x d`` transformed points."""
        return self.explain(self.covar_module(X, self.train_inputs[0]).to_dense())

    def draw_weights(self, u: Tensor) -> Tensor:
        """Random weights w: with u of the prior, u(x) + k(x, X) w is a sample of the posterior, less the mean.

        Args:
            u: ``... x n`` samples of the prior of the latent values at the training inputs, less the mean.
        """
        raise NotImplementedError

    def path_update(self, **how: Any) -> SamplePath:
        """Return the update of prior samples by the data; arguments as in BoTorch's ``gaussian_update``."""
        X, values = self.train_inputs[0], how["sample_values"]
        features = KernelEvaluationMap(self.covar_module, X, get_input_transform(self))
        return GeneralizedLinearPath(features, self.draw_weights(values - self.mean_module(X)).detach())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Predict latent values at transformed points: in evaluation mode by the posterior, once fitted."""
        if self.training or not self.has_posterior:
            return super().__call__(*args, **kwargs)
        (X,) = args
        prior = self.covar_module(X).to_dense()
        on_mean, explained = self.explain_at(X)
        covariance = to_linear_operator(prior - explained)
        return MultivariateNormal(self.mean_module(X) + on_mean, covariance)

    @property
    def support(self) -> list[int]:
        """Sorted indices of the outliers."""
        return self.diagnose().is_outlier.nonzero().flatten().tolist()
