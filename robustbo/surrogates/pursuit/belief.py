"""The probability that each value is wrong, by relevance pursuit."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import Tensor

from robustbo.determinism.generator import no_draws
from robustbo.numerics.belief.densities import NUM_RIGHT, log_beyond_warp, log_odd, silent_share
from robustbo.numerics.belief.draws import Draw
from robustbo.numerics.belief.left_out import Expectations, Mixtures
from robustbo.numerics.belief.probability import Belief, WeightedFit, sample_belief
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model, noise
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.gp.prediction_cache import PredictionCache, prediction_cache
from robustbo.numerics.improvement.wrong import LEAST_NOISE_DOF, NOISE_DOF
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.model_averaging import Component, ModelAveraging
from robustbo.surrogates.common.rewarped_process import PredictingProcess, RewarpedProcess
from robustbo.surrogates.common.units import in_model_units, in_outcome_units
from robustbo.surrogates.pursuit.plateau import BesidePlateauGP
from robustbo.surrogates.pursuit.predictive import MixturePredictive, TailedNoise


class PursuitBelief(ModelAveraging, BesidePlateauGP):
    """A GP that names outliers, and says of each value how probable it is that it is wrong."""

    _belief: tuple[Any, Belief] | None = None
    _processes: tuple[Any, Sequence[tuple[float, PredictingProcess]]] | None = None

    def probability_right(self, effort: int = 1) -> Tensor:
        """``n`` probabilities that an observation is right: over sets of wrong ones, noise and hyperparameters.

        From the fits of the plausible levels on, Gibbs chains sample which observations are wrong, how noisy the right
        ones are, and, of few observations, the hyperparameters. The prior rate has the mean 0.1, the `outlier_rate`, or
        that of ``num_outliers``; at most half are wrong. What is far from what the others predict may be a needle, so
        that one value is never quite certain to be wrong.

        Args:
            effort: How many times as many draws.

        References:
            `numerics.belief.population`, `numerics.belief.gibbs`.
        """
        return 1 - self._share_wrong() * (self.belief() if effort == 1 else self._sample(effort)).q

    def belief(self) -> Belief:
        """The belief in the observations, which is sampled once a fit."""
        if self._belief is None or self._belief[0] is not self._components or not self.components:
            self._belief = self._components, self._sample()
        return self._belief[1]

    def _sample(self, effort: int = 1) -> Belief:
        self.eval()
        with torch.no_grad(), no_draws():  # of torch's: the chains have a generator of their own
            model = self.search_model()
            fits = [WeightedFit(weight, fit, self._cache_at(model, fit)) for weight, fit, *_ in self.components]
            fits = fits or [WeightedFit(1.0, self.fit_now(model), lambda: self.prediction_cache)]
            log_density, _ = self._odd(model.y, model.y, _fixed_noise(model))
            return sample_belief(model, fits, log_density, rate=self.options.rate(len(model.y)), effort=effort)

    def predictors(self) -> Sequence[tuple[float, PredictingProcess]]:
        """Weights and processes that predictions are averaged over: the draws of `belief`, of few observations.

        References:
            docs/equations.md (19.12).
        """
        if not (draws := self._draws()):
            return super().predictors()
        if self._processes is None or self._processes[0] is not draws:
            self._processes = draws, [(draw.weight, self._process_of(draw)) for draw in draws]  # eq. 19.12
        return self._processes[1]

    def settle(self) -> None:
        """Draw the belief, and from it the processes that predict."""
        if self.components:
            self.belief()
            self.predictors()

    def _draws(self) -> Sequence[Draw]:
        is_averaged = self.options.is_averaged and self.options.capabilities.is_robust and not self._is_by_fits
        return self.belief().draws if is_averaged and self.components else ()

    def _process_of(self, draw: Draw) -> PredictingProcess:
        inner = self._latent_of(draw)
        if self._warp is None or torch.equal(t := draw.theta[-len(self._warp.t) :], self._warp.t):
            return inner
        own = deepcopy(self._warp)
        own.t = t
        return RewarpedProcess(inner, own, self._warp)

    def _latent_of(self, draw: Draw) -> LatentProcess:
        return self._latent(draw.m, draw.root, draw.al, draw.theta)

    def single_fits(self) -> list[tuple[float, Any]]:
        """Weights, and models that predict by one draw or fit each, whose mixture this is."""
        if not (draws := self._draws()):
            return super().single_fits()
        fits = [Fit(draw.theta, draw.rho, math.nan, math.nan, 0, True) for draw in draws]
        parts = zip(draws, fits, strict=True)
        return [(draw.weight, self._at(Component(1.0, fit, draw.s2, self._latent_of(draw)))) for draw, fit in parts]

    def _share_wrong(self) -> Tensor:
        """``n`` probabilities that an odd observation is wrong."""
        model = self.search_model()
        return self._odd(model.y, model.y, _fixed_noise(model))[1]

    def _new_noise(self, components: Sequence[Component]) -> float:
        """Noise variance of a new measurement: that of right ones, tails included, where values may be wrong."""
        s2, is_known = super()._new_noise(components), math.isnan(components[0].s2)
        return s2 if is_known or not self.options.capabilities.is_robust else s2 * self.belief().noise_multiple

    def diagnose(self) -> Diagnostics:
        """Predictions of each observation by the others, and the evidence against it, by the draws of `belief`.

        References:
            docs/equations.md (19.7) to (19.10).
        """
        self.eval()
        with torch.no_grad():
            z = self.search_model().y.numpy()
            return self._diagnostics(
                Mixtures(self.belief().predictions, len(z), NUM_RIGHT).expectations(z), self._rho > 0
            )

    def diagnose_others(self, X: Tensor, Y: Tensor, sds: Tensor | None) -> Diagnostics:
        """Diagnose values that the model was not fitted to, by what its fits predict; see `MapGP.diagnose_others`.

        Outliers are those that gain more than one more has to pay.
        """
        model, transform = self.search_model(), outcome_transform(self)
        with torch.no_grad():
            predictive = self.predictive(X)
            if sds is not None:
                expected, _ = in_outcome_units(transform, predictive.noise.weights @ predictive.mean, sds)
                predictive = predictive.with_noise(in_model_units(transform, expected, sds)[1].square())
            if self._warp is None:
                (z, _), t = in_model_units(transform, Y, torch.ones_like(Y)), None
            else:
                z, t = self._warp.before(Y), self._warp.t
            measured, right = predictive.mixtures(t), predictive.mixtures(t, NUM_RIGHT)
            expectations = right.expectations(z.numpy())
            price = self.options.penalty(model).of_another(model.groups.of(self.support))
            log_density, share = self._odd(z, model.y)
            rate, share_right = self.options.rate(len(model.y)), torch.from_numpy(measured.share(NUM_RIGHT))
            log_measured = torch.from_numpy(measured.log_density(z.numpy()))
            told = torch.logaddexp(log_measured, log_density + math.log(rate / (1 - rate)))
            is_right = (share_right.log() + expectations.log_density - told).exp()  # eq. 19.8
            is_noise = (1 - silent_share(rate)) * ((log_measured - told).exp() - is_right).clamp_min(0.0)
            weight = 1 - share * (1 - is_right - is_noise)
            return self._diagnostics(expectations, expectations.evidence > price, weight)

    def _diagnostics(self, expectations: Expectations, is_outlier: Tensor, weight: Tensor | None = None) -> Diagnostics:
        """Diagnostics in the outcome's units; a standard deviation is as long as the way to the quantile there."""
        bend = torch.clone if self._warp is None else self._warp.bend
        expected, side = (
            in_outcome_units(outcome_transform(self), bend(z), torch.ones_like(z))[0]
            for z in (expectations.center, expectations.side)
        )
        return Diagnostics(expected, (side - expected).abs(), expectations.evidence, is_outlier, weight)

    def predictive(self, X: Tensor) -> MixturePredictive:
        """The heavy-tailed distribution of a right measurement at each of ``m x d`` points."""
        self.eval()
        with torch.no_grad():
            X = self.transform_inputs(X)
            if self.is_named:
                parts = self.predictors()
                weights, processes = [weight for weight, _ in parts], [process for _, process in parts]
                moments = [process.marginals(X) for process in processes]
                s2 = torch.stack([process.noise(X, s2) for process, s2 in zip(processes, self._noises(), strict=True)])
            else:
                latent = self(X)
                moments, weights, s2 = [(latent.mean, latent.variance)], [1.0], X.new_tensor(self._noises())
            noise = TailedNoise(X.new_tensor(weights), s2, self.belief().shares)
        mean, variance = (torch.stack(of) for of in zip(*moments, strict=True))
        return MixturePredictive(mean, variance, noise, outcome_transform(self))

    def quantiles(self, X: Tensor, scores: Sequence[float]) -> Tensor:
        """``m x q`` quantiles of a right measurement, the tails of its noise included."""
        predictive = self.predictive(X)
        return torch.stack([predictive.quantiles(score) for score in scores], -1)

    def _noises(self) -> list[float]:
        """Noise variance of most new measurements by each of the processes that predictions are averaged over."""
        usual, factor = float(self.likelihood.new_noise), self.belief().s2_factor
        if draws := self._draws():
            s2 = [draw.s2 for draw in draws]
        elif self.is_named and self.components:
            s2 = [component.s2 * factor for component in self.components]
        else:
            s2 = [usual * factor if self._noise_variances(slice(None)) is None else usual]
        return [usual if math.isnan(variance) else variance for variance in s2]

    def noise_dof(self) -> float:
        """Degrees of freedom with which the noise is known: those that the function leaves to it, within bounds.

        Where the function goes through every value, nothing tells the two apart.
        """
        model, cache = self.search_model(), self.prediction_cache
        residual = cache.P_diagonal * noise(model, self._theta(model))  # the others' is n less these
        return min(max(float(residual[self._rho == 0].sum()), LEAST_NOISE_DOF), NOISE_DOF)

    def fit_now(self, model: Model) -> Fit:
        """The fit that the model's present parameters are."""
        return Fit(self._theta(model), self._rho, math.nan, math.nan, 0, True)

    def _cache_at(self, model: Model, fit: Fit) -> Callable[[], PredictionCache]:
        """Computation of what is known at one of the fits, which may have been done at the only one."""
        if len(self.components) == 1:
            return lambda: self.prediction_cache
        return partial(prediction_cache, model, fit.theta, fit.rho)

    def _odd(self, z: Tensor, y: Tensor, s2_known: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``n`` log densities of odd observations before a warp, and the shares of the wrong among these.

        Args:
            z: ``n`` observations.
            y: Those that the model was fitted to.
            s2_known: ``n`` noise variances that are known.
        """
        scale = torch.ones_like(z) if s2_known is None else (1 + s2_known).sqrt()
        if self.least_noise > 0:  # else nothing changes, to the bit
            scale = scale.clamp_min(math.sqrt(1 + self._least_noise()))
        if self._warp is None:
            return log_odd(z, scale)
        distance = self._warp.expand(z)
        log_density, share = log_odd(z, scale, distance)
        return log_density + log_beyond_warp(distance, self._warp.expand(y)), share


def _fixed_noise(model: Model) -> Tensor | None:
    """``n`` noise variances that are known, 0 where they are not; None where none is."""
    return model.s2_known if model.s2_parts is None else model.s2_parts[0]
