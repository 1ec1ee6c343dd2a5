"""GPyTorch's variational GP on our base kernel, with a likelihood of each class's own: the papers' baselines."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from botorch.exceptions.warnings import OptimizationWarning, UserInputWarning
from botorch.models import SingleTaskVariationalGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.posteriors import GPyTorchPosterior
from botorch.utils.types import DEFAULT
from gpytorch.constraints import GreaterThan
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import Likelihood
from gpytorch.means import Mean
from gpytorch.mlls import VariationalELBO
from gpytorch.module import Module
from gpytorch.utils.memoize import clear_cache_hook
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import Surrogate, outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.float32 import in_float32
from robustbo.surrogates.common.no_fantasies import NoFantasies
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.common.placement import in_double
from robustbo.surrogates.common.units import in_outcome_units
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.validation import whole_number

OF_OBSERVATIONS = "model.variational_strategy."  # what has one entry per inducing point, which are the observations

MOST_ITERATIONS = 100_000
LEAST_NOISE = 1e-10  # the least variance that is learned, on standardized outcomes


@dataclass(frozen=True, kw_only=True)
class VariationalOptions(GPOptions):
    """The options of `VariationalGP`; see there."""

    max_iter: int = 400

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        whole_number("max_iter", self.max_iter, 1, MOST_ITERATIONS)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of a baseline that is measured as it is: its diagnosis is in-sample."""
        return Capabilities(has_predictive=True, leaves_one_out=False, hears_replicates=False)


class LatentMarginals(NamedTuple):
    """Means and variances of latent values at some points, in the model's own (transformed) units."""

    mean: Tensor
    variance: Tensor


class VariationalGP(NoFantasies, Surrogate, SingleTaskVariationalGP):
    """`SingleTaskVariationalGP` with an inducing point at each observation, our base kernel, and a robust likelihood.

    A subclass has the likelihood, the density of a measurement, and what it calls an outlier. The diagnosis is
    in-sample, since a variational posterior has no leave-one-out formula: each observation is compared with a
    prediction that it has had its part in.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales, of which the mean is taken for all.
        likelihood: Not to be given.
        max_iter: Iterations of L-BFGS-B at most; it has n (n + 3) / 2 variational parameters to find.
        kernel: "matern52" or "rbf".
        is_signal_free: Whether the signal variance is free, or 1.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit, section 6.
    """

    outcome_class: ClassVar = RobustArcsinh
    options_class: ClassVar[type[VariationalOptions]] = VariationalOptions
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
        if likelihood is not None:
            raise ValueError("likelihood must not be given: this model brings its own")
        transform = self.outcome_class(m=1) if outcome_transform is DEFAULT else outcome_transform
        transformed = self.transform_inputs(X=train_X, input_transform=input_transform)
        kernel = covar_module or priors.kernel_module(
            self.options.kernel, transformed.shape[-1], self.options.is_signal_free
        )
        own = in_float32(self.new_likelihood(self.options, transformed)).to(train_X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserInputWarning)  # of minibatches, which are not used here
            super().__init__(
                train_X,
                train_Y,
                own,
                learn_inducing_points=False,
                covar_module=kernel,
                mean_module=mean_module,
                inducing_points=transformed.clone(),
                outcome_transform=transform,
                input_transform=input_transform,
            )
        self.to(train_X)
        self.model.custom_fit = self.custom_fit  # the bound knows the inner model only
        begins_at: Any = self.model.variational_strategy._variational_distribution
        begins_at.mean_init_std = 0.0  # from the prior, where GPyTorch moves at random: a fit is a function of its data
        targets, Yvar = (train_Y, train_Yvar) if transform is None else transform.eval()(train_Y, train_Yvar)
        self.train_inputs, self.train_targets = (train_X,), targets.squeeze(-1)
        if Yvar is None:  # a step of the search may be so long that without a bound the noise is zero
            own.register_constraint("raw_noise", GreaterThan(LEAST_NOISE).float().to(train_X), replace=True)
        own.noise = torch.tensor(priors.NOISE_START, dtype=torch.float32) if Yvar is None else Yvar.mean()
        own.raw_noise.requires_grad_(Yvar is None)

    @classmethod
    def new_likelihood(cls, options: Any, X: Tensor) -> Any:
        """The likelihood, whose ``noise`` is its squared scale, of observations at ``n x d`` transformed inputs."""
        raise NotImplementedError

    def predictive(self, X: Tensor) -> Any:
        """The distribution of a measurement at each of ``... x d`` points, which has a ``log_density``."""
        raise NotImplementedError

    def noise_variance(self) -> Tensor:
        """The variance of the noise, in the model's own units."""
        raise NotImplementedError

    def are_outliers(self, e: Tensor, v: Tensor) -> Tensor:
        """Return which observations are outliers, by their ``n`` errors and their latent values' variances."""
        raise NotImplementedError

    def marginal_log_likelihood(self) -> VariationalELBO:
        """The evidence's lower bound, the objective of a fit."""
        return VariationalELBO(self.likelihood, self.model, num_data=len(self.train_targets))

    def custom_fit(self, mll: Any, **_: Any) -> Any:
        """Maximize the bound; `fit_gpytorch_mll` calls this."""
        self.train()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizationWarning)  # it says that it stopped after so many iterations
            fit_gpytorch_mll_scipy(mll, options={"maxiter": self.options.max_iter})
        return mll.eval()

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
    ) -> Any:
        """Return the posterior as BoTorch does; that of a measurement is the normal one of the same mean and variance.

        The cache that the first prediction fills is computed without gradients, for all predictions after it.

        Args:
            X: ``... x q x d`` points.
            output_indices: Not to be given.
            observation_noise: Whether a measurement is meant, or the variance that is added, in the model's own units.
            posterior_transform: Of the result.
        """
        self.eval()
        with torch.no_grad():
            self.model(self.model.variational_strategy.inducing_points)
        if observation_noise is False:
            return super().posterior(X, output_indices, posterior_transform=posterior_transform)
        dist = self.model(self.transform_inputs(X))
        noise = observation_noise if isinstance(observation_noise, Tensor) else self.noise_variance().detach()
        noise = noise.squeeze(-1) if noise.dim() == X.dim() else noise
        added = DiagLinearOperator(noise.to(dist.mean).expand(dist.mean.shape))
        posterior: Any = GPyTorchPosterior(MultivariateNormal(dist.mean, dist.lazy_covariance_matrix + added))
        if (transform := outcome_transform(self)) is not None:
            posterior = transform.untransform_posterior(posterior, X=X)
        return posterior if posterior_transform is None else posterior_transform(posterior=posterior, X=X)

    def latent(self, X: Tensor) -> LatentMarginals:
        """The latent values at ``... x d`` points."""
        self.eval()
        with torch.no_grad():
            distribution = self.model(self.transform_inputs(X))
        return LatentMarginals(distribution.mean, distribution.variance)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The hyperparameters, without the variational distribution of these observations."""
        state = super().state_dict(*args, **kwargs)
        return {key: value for key, value in state.items() if not key.startswith(OF_OBSERVATIONS)}

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take hyperparameters; the variational distribution stays as it is."""
        mine = super().state_dict()
        own = {key: value for key, value in mine.items() if key.startswith(OF_OBSERVATIONS)}
        return super().load_state_dict({**state_dict, **own}, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the prediction cache, which may have a graph and so cannot be copied."""
        clear_cache_hook(self.model.variational_strategy)
        return self.__dict__

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data, as BoTorch does where a state is loaded; the variational distribution is of the last fit."""
        if inputs is not None:
            self.train_inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        if targets is not None:
            self.train_targets = targets

    def diagnose(self) -> Diagnostics:
        """Predictions of the observations by all, themselves included, and the evidence against them."""
        latent = self.latent(self.train_inputs[0])
        with torch.no_grad():
            variance = latent.variance + self.noise_variance()
            e = self.train_targets - latent.mean
            expected, sd = in_outcome_units(outcome_transform(self), latent.mean, variance.sqrt())
            return Diagnostics(expected, sd, gain(e, variance), self.are_outliers(e, latent.variance))
