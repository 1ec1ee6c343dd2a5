"""The variational GPs whose noise has exponential tails: Laplace's, and Huber's with and without projection statistics.

Baselines of the relevance pursuit paper, in its Tables 4 to 7.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from gpytorch.constraints import Positive
from gpytorch.likelihoods import LaplaceLikelihood
from gpytorch.likelihoods.likelihood import _OneDimensionalLikelihood
from torch import Tensor
from torch.distributions import Distribution

from robustbo.numerics.baselines import exponential_tails, projection
from robustbo.numerics.baselines.exponential_tails import Tailed
from robustbo.surrogates.baselines.variational import VariationalGP, VariationalOptions
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.predictive import PredictiveDistribution
from robustbo.surrogates.student_t.model import TAIL
from robustbo.validation import one_of

THRESHOLD = 0.5  # Algikar and Mili's, in scales
WEIGHTINGS = ("loss", "scale")


@dataclass(frozen=True)
class ExponentialPredictive(PredictiveDistribution):
    """The distribution of a measurement with exponential tails of the noise at each of ``...`` points."""

    noise: Tailed

    def _log_density(self, y: Tensor) -> Tensor:
        return exponential_tails.log_predictive(y, self.mean, self.variance, self.noise)


class ExponentialVariationalGP(VariationalGP):
    """A variational GP whose noise has exponential tails; a subclass gives its parameters."""

    def noise_parameters(self) -> Tailed:
        """The parameters of a new measurement's noise."""
        raise NotImplementedError

    def predictive(self, X: Tensor) -> ExponentialPredictive:
        """The distribution of a measurement at each of ``... x d`` points."""
        return ExponentialPredictive(*self.latent(X), self.noise_parameters(), outcome_transform(self))

    def noise_variance(self) -> Tensor:
        """The variance of the noise, in the model's own units."""
        return exponential_tails.variance(self.noise_parameters())

    def are_outliers(self, e: Tensor, v: Tensor) -> Tensor:
        """Return which errors have a tail probability below `TAIL` under the noise."""
        return exponential_tails.log_tail(e, self.noise_parameters()) < math.log(TAIL)


class LaplaceVariationalGP(ExponentialVariationalGP):
    """GPyTorch's variational GP with Laplace noise. An outlier has a tail probability below 0.5 % under the noise.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `VariationalGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales (half the variances), of which the mean is taken for all.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit, Tables 4 to 7.
    """

    @classmethod
    def new_likelihood(cls, options: Any, X: Tensor) -> LaplaceLikelihood:
        """Laplace noise of all observations."""
        return LaplaceLikelihood()

    def noise_parameters(self) -> Tailed:
        """The parameters of the noise."""
        return exponential_tails.laplace(self.likelihood.noise.detach().squeeze())


class HuberNoise(Distribution):
    """Errors of Huber's distribution about latent values, as GPyTorch's quadrature takes it.

    Args:
        loc: ``...`` latent values.
        noise: Its parameters.
    """

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012 - torch declares it so

    def __init__(self, loc: Tensor, noise: Tailed) -> None:
        super().__init__(loc.shape, validate_args=False)
        self.loc, self.noise = loc, noise

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of ``...`` measurements."""
        return exponential_tails.log_density(value - self.loc, self.noise)


class HuberLikelihood(_OneDimensionalLikelihood):
    """Huber's noise; while it is trained, that of each observation with a weight of its own.

    A weight w changes the loss rho of an error r at a scale s to w^2 rho(r / (w s)): nothing in the middle, and the
    lines beyond begin at w k scales in place of k ("loss"); or the scale to w s ("scale").

    Args:
        threshold: k, where the lines begin, in scales.
        weights: ``n`` weights of the observations, in (0, 1], or None.
        weighting: "loss" or "scale".
    """

    weights: Tensor | None

    def __init__(self, threshold: float, weights: Tensor | None = None, weighting: str = WEIGHTINGS[0]) -> None:
        super().__init__()
        self.threshold, self.weighting = threshold, weighting
        self.register_buffer("weights", weights, persistent=False)
        self.raw_noise = torch.nn.Parameter(torch.zeros(1, dtype=torch.float32))
        self.register_constraint("raw_noise", Positive())

    @property
    def noise(self) -> Tensor:
        """The squared scale."""
        return self.raw_noise_constraint.transform(self.raw_noise)

    @noise.setter
    def noise(self, value: Any) -> None:
        noise = torch.as_tensor(value).to(self.raw_noise)
        self.initialize(raw_noise=self.raw_noise_constraint.inverse_transform(noise))

    def noise_parameters(self, *, is_weighted: bool = False) -> Tailed:
        """Return the parameters of a new measurement's noise, or of each observation's where it is weighted."""
        if not is_weighted or self.weights is None:
            return exponential_tails.huber(self.noise, self.threshold)
        if self.weighting == "loss":
            return exponential_tails.huber(self.noise, self.threshold * self.weights)
        return exponential_tails.huber(self.noise * self.weights.square(), self.threshold)

    def forward(self, function_samples: Tensor, *args: Any, **kwargs: Any) -> HuberNoise:
        """The distribution of measurements about latent values."""
        return HuberNoise(function_samples, self.noise_parameters(is_weighted=self.training))


@dataclass(frozen=True, kw_only=True)
class HuberOptions(VariationalOptions):
    """The options of `HuberGP`; see there."""

    threshold: float = THRESHOLD

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        if not 0 < self.threshold < math.inf:
            raise ValueError(f"threshold must be positive, got {self.threshold!r}")


class HuberGP(ExponentialVariationalGP):
    """A variational GP with Huber's noise. An outlier has a tail probability below 0.5 % under the noise.

    The density is normalized at any scale, which is learned.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `VariationalGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales of the middle, of which the mean is taken for all.
        threshold: Where an error begins to count linearly, in scales.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit, Tables 4 to 7; Algikar and Mili (2023),
        Robust Gaussian process regression with Huber likelihood.
    """

    options_class = HuberOptions

    @classmethod
    def new_likelihood(cls, options: Any, X: Tensor) -> HuberLikelihood:
        """Huber's noise of all observations."""
        return HuberLikelihood(options.threshold)

    def noise_parameters(self) -> Tailed:
        """The parameters of a new measurement's noise."""
        return Tailed(*(parameter.detach().squeeze() for parameter in self.likelihood.noise_parameters()))


@dataclass(frozen=True, kw_only=True)
class HuberProjectionOptions(HuberOptions):
    """The options of `HuberProjectionGP`; see there."""

    weighting: str = WEIGHTINGS[0]

    def check(self) -> None:
        """Raise a ValueError for an invalid option."""
        super().check()
        one_of("weighting", self.weighting, WEIGHTINGS)


class HuberProjectionGP(HuberGP):
    """A variational GP with Huber's noise, in which observations far out in the inputs weigh less.

    The weights follow from the projection statistics of the transformed inputs (`numerics.baselines.projection`).

    Args:
        train_X: ``n x d`` inputs; other arguments as in `HuberGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales of the middle, of which the mean is taken for all.
        threshold: Where an error begins to count linearly, in scales, of an observation of weight 1.
        weighting: "loss", which bounds the pull of an observation by its weight (Mili's estimator, and what the paper
            says that its weights are for), or "scale", the likelihood that their code has: an observation of weight w
            has the scale w s, which makes it pull harder.

    References:
        As of `HuberGP`.
    """

    options_class = HuberProjectionOptions

    @classmethod
    def new_likelihood(cls, options: Any, X: Tensor) -> HuberLikelihood:
        """Huber's noise with each observation's weight."""
        return HuberLikelihood(options.threshold, projection.weights(X.detach()), options.weighting)
