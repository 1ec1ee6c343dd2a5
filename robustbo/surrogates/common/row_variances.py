"""An exact GP whose observations may have variances of their own, which go wherever the observations go.

BoTorch takes a model apart in three places: to condition it on more observations, to draw sample paths, and to leave
each observation out. Here each of them finds the variances.

References:
    Wilson and others (2021), Pathwise conditioning of Gaussian processes: a path is a sample of the prior plus
    k(., X) w, where the weights w are drawn so that all paths have the mean and the covariance of the posterior.
"""

from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from botorch.models.utils import gpt_posterior_settings
from botorch.sampling.pathwise.paths import SamplePath
from botorch.sampling.pathwise.posterior_samplers import DrawMatheronPaths
from botorch.sampling.pathwise.update_strategies import GaussianUpdate
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.likelihoods.gaussian_likelihood import _GaussianLikelihoodBase
from gpytorch.models import ExactGP
from torch import Size, Tensor

from robustbo.numerics.gp.resolution import resolution, rounding_variance
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.likelihood import DataPrior, OutlierVariances
from robustbo.surrogates.common.sample_paths import draw_paths_of_mixture
from robustbo.surrogates.common.units import in_outcome_units

ALL = slice(None)


class RowVariancesGP(SingleTaskGP):
    """A `SingleTaskGP` whose likelihood is one of `OutlierVariances`.

    Attributes:
        least_noise: Set before a fit: the least standard deviation of noise that is looked for, in outcome units.
        zero: Set before a fit: where the zero of the user's outcomes lies.
    """

    likelihood: Any
    least_noise = 0.0
    zero = 0.0

    _noise_parts: tuple[Tensor, Tensor] | None = None
    _outcomes: Tensor  # those that it was made with
    _resolution: float | None = None

    def _least_noise(self) -> float:
        """The noise variance of rounding, or the least that matters, in standardized outcomes."""
        transform = outcome_transform(self)
        scale = transform.stdvs.item() if isinstance(transform, Standardize) else 1.0
        if self._resolution is None:
            self._resolution = resolution(self._outcomes, self.zero)
        least = self.least_noise / scale
        return max(rounding_variance(self._resolution / scale), least * least)

    def set_noise_parts(self, fixed: Tensor, share: Tensor) -> None:
        """Say before a fit what is known of the noise of single observations, where not all of it is.

        Args:
            fixed: ``n`` known noise variances, in squared outcome units; 0 where none is known.
            share: ``n`` shares of the noise variance that is learned: 0 where it is known, 1/k for a mean of k.
        """
        self._noise_parts = fixed, share
        self._set_outlier_variances(self._rho)

    def noise_parts(self, rows: Tensor | slice = ALL) -> tuple[Tensor, Tensor] | None:
        """The parts of the noise of some observations, in the model's own units; None where there are none."""
        parts, y = self._noise_parts, self.train_targets
        if parts is None or len(parts[0]) != len(y):  # of other data
            return None
        _, stretch = in_outcome_units(outcome_transform(self), y, torch.ones_like(y))
        return (parts[0] / stretch.square())[rows], parts[1][rows]

    def noise_by_row(self, s2: Tensor, rows: Tensor | slice = ALL) -> Tensor:
        """The noise variances of some observations, where that of a single measurement is this."""
        parts = self.noise_parts(rows)
        return s2.expand_as(self.train_targets[rows]) if parts is None else parts[0] + parts[1] * s2

    @property
    def _rho(self) -> Tensor:
        return self.likelihood.rho

    def _set_outlier_variances(self, rho: Tensor) -> None:
        self.likelihood.set_outlier_variances(rho)
        self.likelihood.parts = self.noise_parts()
        self.train()
        self.eval()  # drops what predictions had cached

    def forward(self, x: Tensor) -> Any:
        """The prior of the latent values at ``... x n x d`` points; that of the data knows that it is."""
        prior = super().forward(x)
        is_of_data = self.training or x is self.train_inputs[0]
        return DataPrior(prior.mean, prior.lazy_covariance_matrix) if is_of_data else prior

    def _apply_noise(self, X: Tensor, mvn: Any, observation_noise: bool | Tensor = False) -> Any:
        """Add noise as BoTorch does: a tensor is the variance that is added, in the model's own units."""
        if observation_noise is True and isinstance(self.likelihood, FixedNoiseGaussianLikelihood):
            return self.likelihood(mvn, X, noise=self.likelihood.new_noise.expand(mvn.batch_shape + mvn.event_shape))
        return super()._apply_noise(X, mvn, observation_noise)

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Any:
        """The model with more observations, hyperparameters and the others' variances being as they are.

        Args:
            inputs: ``... x m x d`` transformed points.
            targets: ``... x m`` transformed values, of any more batch dimensions.
            kwargs: ``noise``, their ``... x m`` noise variances; that of a new measurement by default.
        """
        if self.prediction_strategy is None:  # GPyTorch wants what predictions cache
            with gpt_posterior_settings():
                super().__call__(self.train_inputs[0][..., :1, :])
        if kwargs.get("noise") is None:
            usual = self.likelihood.new_noise
            kwargs["noise"] = usual.expand(torch.broadcast_shapes(usual.shape, inputs.shape[:-1]))
        return super().get_fantasy_model(inputs, targets, **kwargs)

    def single_fits(self) -> list[tuple[float, Any]]:
        """Weights, and models that predict by one fit each, whose mixture this is."""
        return [(1.0, self)]

    def path_update(self, **how: Any) -> SamplePath:
        """Return the update of prior samples by the data; arguments as in BoTorch's ``gaussian_update``."""
        if how.get("points") is None and how.get("noise_covariance") is None:
            how["noise_covariance"] = self.likelihood.data_noise
        return GaussianUpdate.dispatch(ExactGP, _GaussianLikelihoodBase)(self, self.likelihood, **how)


@GaussianUpdate.register(RowVariancesGP, OutlierVariances)
def _update_paths(model: RowVariancesGP, _: OutlierVariances, **how: Any) -> SamplePath:
    return model.path_update(**how)


@DrawMatheronPaths.register(RowVariancesGP)
def _draw_paths(model: RowVariancesGP, *, sample_shape: Size, **how: Any) -> SamplePath:
    draw = DrawMatheronPaths.dispatch(ExactGP)
    return draw_paths_of_mixture(
        model.single_fits(), sample_shape, lambda single, shape: draw(single, sample_shape=shape, **how)
    )
