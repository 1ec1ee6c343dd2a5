"""BoTorch's own relevance pursuit, made safe for the loop; the peer that ours is to be measured against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from botorch.exceptions import InputDataError
from botorch.models.robust_relevance_pursuit_model import RobustRelevancePursuitSingleTaskGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.sampling.pathwise.paths import SamplePath
from botorch.sampling.pathwise.posterior_samplers import DrawMatheronPaths
from botorch.sampling.pathwise.utils import get_input_transform
from botorch.utils.types import DEFAULT
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import Likelihood
from gpytorch.likelihoods.noise_models import FixedGaussianNoise
from gpytorch.means import Mean
from gpytorch.module import Module
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import Surrogate, outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics, diagnose_by_leave_one_out
from robustbo.surrogates.common.float32 import in_float32
from robustbo.surrogates.common.likelihood import OutlierFixedNoiseLikelihood, OutlierGaussianLikelihood
from robustbo.surrogates.common.options import Options
from robustbo.surrogates.common.placement import in_double
from robustbo.surrogates.common.row_variances import RowVariancesGP

OUTLIER_RATE = 0.2  # BoTorch's own default: prior mean of the number of outliers, as a fraction of n
LARGEST = 1e150  # whose square still fits into float64
RHO = "likelihood.noise_covar.raw_rho"


@dataclass(frozen=True, kw_only=True)
class BoTorchPursuitOptions(Options):
    """The options of `BoTorchRelevancePursuitGP`; see there."""

    prior_mean_of_support: float | None = None

    def check(self) -> None:
        """Raise a ValueError for a number that cannot be."""
        if self.prior_mean_of_support is not None and self.prior_mean_of_support <= 0:
            raise ValueError(f"prior_mean_of_support must be positive, got {self.prior_mean_of_support!r}")

    @property
    def capabilities(self) -> Capabilities:
        """Robust, and not heeded: a peer is run as its authors wrote it."""
        return Capabilities(is_robust=True, hears_replicates=False)


class BoTorchRelevancePursuitGP(Surrogate, RobustRelevancePursuitSingleTaskGP):
    """`RobustRelevancePursuitSingleTaskGP` with all its defaults, and two of its traps closed.

    Its prior mean of the number of outliers is int(0.2 n), which is 0 and fails below n = 5: here it is at least 1. Its
    variances, one per outlier, are no part of the state, so that a state can be loaded onto other rows (whose outliers
    are then unknown until the model is fitted).

    Args:
        train_X: ``n x d`` inputs; other arguments as in `RobustRelevancePursuitSingleTaskGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        prior_mean_of_support: Prior mean of the number of outliers.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit.
    """

    options_class = BoTorchPursuitOptions
    options: Any  # of its `options_class`

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: Likelihood | None = None,
        covar_module: Module | None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | Any = DEFAULT,
        input_transform: InputTransform | None = None,
        **options: Any,
    ) -> None:
        self.options = self.make_options(options)
        train_X, train_Y, train_Yvar = in_double(train_X=train_X, train_Y=train_Y, train_Yvar=train_Yvar)
        expected = self.options.prior_mean_of_support
        if train_Y.abs().max() > LARGEST:
            raise InputDataError(f"train_Y must lie within {LARGEST:g} of zero, got {train_Y.abs().max():g}")
        super().__init__(
            train_X,
            train_Y,
            train_Yvar,
            likelihood,
            covar_module,
            mean_module,
            outcome_transform,
            input_transform,
            prior_mean_of_support=max(1, int(OUTLIER_RATE * train_X.shape[-2])) if expected is None else expected,
        )
        if covar_module is None:  # BoTorch makes it in torch's default type, which may have been set
            in_float32(self.covar_module).to(train_X)
        self.likelihood.noise_covar.raw_rho_constraint.float()
        if likelihood is None and train_Yvar is None:
            in_float32(self.likelihood.noise_covar.base_noise).to(train_X)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The hyperparameters, without the variances of single observations."""
        state = super().state_dict(*args, **kwargs)
        state.pop(RHO, None)
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters; the variances of single observations stay as they are."""
        own = {RHO: self.likelihood.noise_covar.raw_rho.detach()}
        return super().load_state_dict({**state_dict, **own}, *args, **kwargs)

    def custom_fit(self, mll: Any, **options: Any) -> Any:
        """Fit as BoTorch does, and detach the probabilities that it keeps: a model with a graph cannot be copied."""
        fitted, model = super().custom_fit(mll, **options), cast("Any", self)
        model.bmc_probabilities = model.bmc_probabilities.detach()
        return fitted

    def _apply_noise(self, X: Tensor, mvn: Any, observation_noise: bool | Tensor = False) -> Any:
        """A new measurement has the others' noise; BoTorch's warns of each, and fails where the noise is known."""
        if observation_noise is False:
            return mvn
        base = self.likelihood.noise_covar.base_noise.noise.mean(dim=-1, keepdim=True)
        noise = base if observation_noise is True else observation_noise.squeeze(-1)
        added = DiagLinearOperator(noise.expand(mvn.mean.shape))
        return MultivariateNormal(mvn.mean, mvn.lazy_covariance_matrix + added)

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Any:
        """The model with more observations; BoTorch's loses the variances of single ones."""
        return self.with_known_variances().get_fantasy_model(inputs, targets, **kwargs)

    def with_known_variances(self) -> RowVariancesGP:
        """Return the same process as a `RowVariancesGP`, with this model's hyperparameters and outlier variances."""
        base = self.likelihood.noise_covar.base_noise
        is_known = isinstance(base, FixedGaussianNoise)
        likelihood: Any = OutlierFixedNoiseLikelihood(base.noise) if is_known else OutlierGaussianLikelihood()
        likelihood.noise_covar = base
        likelihood.set_outlier_variances(self._outlier_variances())
        model = RowVariancesGP(
            self._original_X,
            self._original_Y,
            None,
            likelihood,
            self.covar_module,
            self.mean_module,
            outcome_transform(self),
            get_input_transform(self),
        )
        return model.eval()

    def _outlier_variances(self) -> Tensor:
        """``n`` variances of single observations, in the model's own units."""
        with torch.no_grad():
            noise = self.likelihood.noise_covar
            X = self.train_inputs[0]  # there rho is relative to the diagonal of K + sigma^2 I
            return noise.rho * (self.covar_module(X).diagonal() + noise.base_noise(X, shape=noise.rho.shape).diagonal())

    def diagnose(self) -> Diagnostics:
        """Leave-one-out expectations and evidence; the outliers are the support that the pursuit chose."""
        return diagnose_by_leave_one_out(self, self._outlier_variances(), outcome_transform(self))


@DrawMatheronPaths.register(BoTorchRelevancePursuitGP)
def _draw_paths(model: BoTorchRelevancePursuitGP, **how: Any) -> SamplePath:
    return DrawMatheronPaths(model.with_known_variances(), **how)
