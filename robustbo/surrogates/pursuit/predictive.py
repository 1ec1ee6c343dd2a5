"""The distribution of a measurement by several fits whose noise has tails: a mixture of normal distributions."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.surrogates.common.predictive import PredictiveDistribution


class TailedNoise(NamedTuple):
    """Noise of right measurements by several fits.

    Attributes:
        weights: ``k`` weights of the fits.
        s2: ``k`` noise variances of most measurements.
        shares: ``3`` shares that the multiples of these have (`numerics.belief.densities.MULTIPLES`).
    """

    weights: Tensor
    s2: Tensor
    shares: Tensor


class MixturePredictive(PredictiveDistribution):
    """The distribution of a measurement at each of ``m`` points; moments of the latent value are ``k x m``.

    References:
        docs/equations.md (19.6).
    """

    noise: TailedNoise

    def _log_density(self, y: Tensor) -> Tensor:
        weights, s2, shares = self.noise
        variance = self.variance + s2[:, None] * torch.from_numpy(MULTIPLES)[:, None, None]  # 3 x k x m
        log_normal = -0.5 * ((y - self.mean).square() / variance + (2 * math.pi * variance).log())
        return (log_normal + weights.log()[:, None] + shares.log()[:, None, None]).logsumexp((0, 1))  # eq. 19.6
