"""Bayesian model averaging: predictions by several fits to the same data, weighted by their posterior probabilities."""

import math
from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, NamedTuple, cast

import torch
from botorch.models.gpytorch import GPyTorchModel
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor

from robustbo.determinism.generator import no_draws
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model, new_noise, noise
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.gp.prediction_cache import posterior_at_inputs
from robustbo.numerics.pursuit.averaging import moments
from robustbo.surrogates.common.contract import Surrogate, outcome_transform
from robustbo.surrogates.common.deferred_covariance import DeferredCovariance
from robustbo.surrogates.common.rewarped_process import PredictingProcess
from robustbo.surrogates.common.units import in_outcome_units


class Component(NamedTuple):
    """One of the fits.

    Attributes:
        weight: Its posterior probability.
        fit: Its hyperparameters and added variances.
        s2: Noise variance of a new measurement; NaN where the noise is known.
        latent: The process given the observations.
    """

    weight: float
    fit: Fit
    s2: float
    latent: LatentProcess


def without_averaging(model: Any) -> Any:
    """Return a model that predicts by the likeliest fit alone, which names the outliers, in place of several.

    It shares everything else with the model, which is not changed: other threads may predict by all fits meanwhile.
    """
    if not isinstance(model, ModelAveraging) or not model.components or len(model.predictors()) < 2:
        return model
    single = copy(model)
    single._components, single._is_by_fits = (model.components[0]._replace(weight=1.0),), True
    return single


def by_fits(model: Any) -> Any:
    """Return a model that predicts by its fits where it would by draws of hyperparameters, for more of the same data.

    It shares everything else with the model, which is not changed.
    """
    if not isinstance(model, ModelAveraging):
        return model
    single = copy(model)
    single._is_by_fits = True
    return single


class ModelAveraging(GPyTorchModel):
    """A `MapGP` that predicts by several fits; its hyperparameters and outliers are those of one of them.

    The fits hold for the observations and parameters that they were found with. With others, in fantasies, and after a
    state was loaded, the model predicts by the one fit: pickle a model to keep its predictions, or fit it again.
    Marginal variances of many points are cheap; a full covariance is computed when it is first needed.
    """

    _components: tuple[Component, ...] = ()
    _is_by_fits = False
    _components_at: tuple[Tensor, Tensor] = (torch.empty(0, dtype=torch.float64),) * 2

    def average(self, search: Model, weights: Sequence[float], fits: Sequence[Fit]) -> None:
        """Predict by these fits, leaving out those of zero weight; the kernel must be a named one.

        Args:
            search: The model as the search sees it.
            weights: Posterior probabilities.
            fits: Hyperparameters and added variances, the model's own first, which is the likeliest.
        """
        model: Any = self

        def component(weight: float, fit: Fit) -> Component:
            s2 = math.nan if search.s2_known is not None else new_noise(search, fit.theta).item()
            latent = model.latent() if fit is fits[0] else model.process(search, fit.theta, fit.rho)
            return Component(weight, fit, s2, latent)

        pairs = zip(weights, fits, strict=True)
        self._components = tuple(component(weight, fit) for weight, fit in pairs if weight > 0)
        self._components_at = model.parameters_now(), model.train_inputs[0]

    @property
    def components(self) -> tuple[Component, ...]:
        """The fits that it predicts by, if they hold; its own is the first."""
        if not self._components:
            return ()
        model: Any = self
        now = model.parameters_now(), model.train_inputs[0]
        return self._components if all(map(torch.equal, now, self._components_at)) else ()

    def latents(self) -> list[tuple[float, LatentProcess]]:
        """Weights and the fitted processes in numbers, for explicit formulas; the kernel must be a named one."""
        model: Any = self
        return [(component.weight, component.latent) for component in self.components] or [(1.0, model.latent())]

    def predictors(self) -> Sequence[tuple[float, PredictingProcess]]:
        """Weights and the processes that predictions are averaged over, where there are components: here theirs."""
        return [(component.weight, component.latent) for component in self.components]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Predict latent values: in evaluation mode by a normal distribution of the mixture's mean and covariance."""
        components = () if self.training else self.components
        if not components:
            return super().__call__(*args, **kwargs)
        (X,) = args
        parts = self.predictors()
        weights, latents = X.new_tensor([weight for weight, _ in parts]), [latent for _, latent in parts]
        ks = [latent.covariance(X, latent.X) for latent in latents]
        means = torch.stack([latent.mean(k) for latent, k in zip(latents, ks, strict=True)])

        def dense() -> Tensor:
            pairs = zip(latents, ks, strict=True)
            return moments(weights, means, torch.stack([latent.posterior_covariance(X, k) for latent, k in pairs]))[1]

        def diagonal() -> Tensor:
            variances = torch.stack([latent.variances(k) for latent, k in zip(latents, ks, strict=True)])
            return moments(weights, means.unsqueeze(-1), variances[..., None, None])[1].squeeze((-2, -1))

        covariance = to_linear_operator(dense()) if X.shape[-2] == 1 else DeferredCovariance(X, dense, diagonal)
        return MultivariateNormal(torch.einsum("k,k...->...", weights, means), covariance)

    def marginals(self, X: Tensor, is_noisy: bool = False) -> tuple[Tensor, Tensor]:
        """Means and standard deviations at ``m x d`` points, of the objective or of a measurement."""
        model, components = cast("Any", self), self.components
        if not components:
            return Surrogate.marginals(model, X, is_noisy)
        X, parts = model.transform_inputs(X), self.predictors()
        with no_draws():
            w = X.new_tensor([weight for weight, _ in parts])
            means, variances = zip(*(latent.marginals(X) for _, latent in parts), strict=True)
            s2 = self._new_noise(components) if is_noisy else 0.0
            mu, C = moments(w, torch.stack(means).unsqueeze(-1), torch.stack(variances)[..., None, None])
            return in_outcome_units(outcome_transform(model), mu.squeeze(-1), (C.flatten() + s2).sqrt())

    def at_inputs(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Means and standard deviations of the objective at the ``n x d`` points that the model was fitted to."""
        model, components = cast("Any", self), self.components
        if len(self.predictors()) != 1 or model.shared_errors is not None:
            return self.marginals(X)
        search = model.search_model()
        s2, fit = noise(search, components[0].fit.theta), components[0].fit
        mean, variance = posterior_at_inputs(model.prediction_cache, model.train_targets, s2, fit.rho)
        return in_outcome_units(outcome_transform(model), mean, variance.sqrt())

    def _apply_noise(self, X: Tensor, mvn: Any, observation_noise: bool | Tensor = False) -> Any:
        """Add the noise as BoTorch does; that of a new measurement is averaged over the fits too."""
        noisy = super()._apply_noise(X, mvn, observation_noise)
        components = self.components if observation_noise is True else ()
        if not components or math.isnan(components[0].s2):
            return noisy
        return noisy.add_jitter(self._new_noise(components) - self.likelihood.noise.item())

    def _new_noise(self, components: Sequence[Component]) -> float:
        """The noise variance of a new measurement: the mean of those that are known, or of the fits'."""
        if math.isnan(components[0].s2):
            return float(self.likelihood.new_noise)
        return math.fsum(component.weight * component.s2 for component in components)

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data; inputs alone are another view of the same, as BoTorch transforms them and back."""
        super().set_train_data(inputs, targets, strict)
        if targets is not None:
            self._components = ()

    def single_fits(self) -> list[tuple[float, Any]]:
        """Weights, and models that predict by one fit each, whose mixture this is."""
        components = self.components
        return [(component.weight, self._at(component)) for component in components] if components else [(1.0, self)]

    def _at(self, component: Component) -> Any:
        """A model of its own that predicts by one of the fits, through its modules."""
        single: Any = deepcopy(self)
        single._components = ()
        single._set_theta(single.search_model(), component.fit.theta)
        single.mean_module.constant = component.latent.m
        single._set_outlier_variances(component.fit.rho)
        return single

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Any:
        """The model with more observations, by the one fit alone."""
        fantasy = super().get_fantasy_model(inputs, targets, **kwargs)
        fantasy._components = ()
        return fantasy
