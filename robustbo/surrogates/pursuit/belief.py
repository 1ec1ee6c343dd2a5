"""The probability that each value is wrong, by relevance pursuit."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from robustbo.numerics.belief.densities import log_odd
from robustbo.numerics.belief.probability import WeightedFit, conditional_probabilities, probability_odd
from robustbo.numerics.gp.log_posterior import Model, noise
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.prediction_cache import PredictionCache, prediction_cache
from robustbo.numerics.improvement.wrong import LEAST_NOISE_DOF, NOISE_DOF
from robustbo.surrogates.common.model_averaging import ModelAveraging
from robustbo.surrogates.common.warped_gp import WarpedGP


class PursuitBelief(ModelAveraging, WarpedGP):
    """A GP that names outliers, and says of each value how probable it is that it is wrong."""

    def probability_right(self) -> Tensor:
        """``n`` probabilities that an observation is right: over sets of wrong ones, noise and hyperparameters.

        From the fits of the plausible levels on, Gibbs chains sample which observations are wrong, how noisy the right
        ones are, and, of few observations, the hyperparameters. The prior rate has the mean 0.1, the `outlier_rate`, or
        that of ``num_outliers``; at most half are wrong. What is far from what the others predict may be a needle, so
        that one value is never quite certain to be wrong.

        References:
            `numerics.belief.population`, `numerics.belief.gibbs`.
        """
        self.eval()
        with torch.no_grad():
            model = self.search_model()
            fits = [WeightedFit(weight, fit, self._cache_at(model, fit)) for weight, fit, *_ in self.components]
            fits = fits or [WeightedFit(1.0, self.fit_now(model), lambda: self.prediction_cache)]
            log_density, share = self._odd(model.y, model.s2_known)
            rate = self.options.rate(len(model.y))
            return 1 - share * probability_odd(model, fits, log_density, rate=rate)

    def noise_dof(self) -> float:
        """Degrees of freedom with which the noise is known: those that the function leaves to it, within bounds.

        Where the function goes through every value, nothing tells the two apart.
        """
        model, cache = self.search_model(), self.prediction_cache
        residual = cache.P.diagonal() * noise(model, self._theta(model))  # the others' is n less these
        return min(max(float(residual[self._rho == 0].sum()), LEAST_NOISE_DOF), NOISE_DOF)

    def fit_now(self, model: Model) -> Fit:
        """The fit that the model's present parameters are."""
        return Fit(self._theta(model), self._rho, math.nan, math.nan, 0, True)

    def _cache_at(self, model: Model, fit: Fit) -> Callable[[], PredictionCache]:
        """Computation of what is known at one of the fits, which may have been done at the only one."""
        if len(self.components) == 1:
            return lambda: self.prediction_cache
        return partial(prediction_cache, model, fit.theta, fit.rho)

    def _odd(self, z: Tensor, s2_known: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``n`` log densities of odd observations before a warp, and the shares of the wrong among these."""
        scale = torch.ones_like(z) if s2_known is None else (1 + s2_known).sqrt()
        return log_odd(z, scale, None if self._warp is None else self._warp.expand(z))

    def verdict_on(self, y: Tensor, e: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        """Outliers are those that gain more than one more has to pay."""
        model = self.search_model()
        price = self.options.penalty(model).of_one(model.groups.of(self.support))(-1)
        z = y if self._warp is None else self._warp.unbend(y)
        log_density, share = self._odd(z)
        log_density = log_density if self._warp is None else log_density - 0.5 * self._warp.variance_slope(z).log()
        s2 = noise(model, self._theta(model)).mean().minimum(v)
        odd, _ = conditional_probabilities(e, v, s2, log_density, self.options.rate(len(model.y)))
        return gain(e, v) > price, 1 - share * odd
