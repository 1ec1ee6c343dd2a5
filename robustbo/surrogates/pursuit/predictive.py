"""The distribution of a measurement by several fits whose noise has tails: a mixture of normal distributions."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.left_out import Mixtures
from robustbo.numerics.belief.predictions import Predictions
from robustbo.numerics.gp.warp import NONE
from robustbo.surrogates.common.predictive import PredictiveDistribution
from robustbo.surrogates.common.units import in_outcome_units
from robustbo.surrogates.transforms.learned_warp import LearnedWarp


class TailedNoise(NamedTuple):
    """Noise of right measurements by several fits.

    Attributes:
        weights: ``k`` weights of the fits.
        s2: ``k`` noise variances of most measurements, or ``k x m``.
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

    def with_noise(self, s2: Tensor) -> "MixturePredictive":
        """The distribution where the ``m`` noise variances of most measurements are known."""
        return replace(self, noise=self.noise._replace(s2=s2.expand_as(self.mean)))

    def mixtures(self, t: Tensor | None, num_multiples: int = len(MULTIPLES)) -> Mixtures:
        """The distributions before a warp, of given coordinates, where there is one; of some multiples of the noise."""
        weights, s2, shares = self.noise
        k, m = self.mean.shape
        s2 = (s2 if s2.dim() > 1 else s2[:, None]).expand(k, m)
        t = torch.tensor(NONE, dtype=torch.float64) if t is None else t
        log_weight = weights.log()[:, None].expand(k, m)
        mean, variance, noise, log_count = (x.flatten().numpy() for x in (self.mean, self.variance, s2, log_weight))
        log_shares, of = shares.log().expand(k * m, len(shares)).numpy(), np.tile(np.arange(m), k)
        draws = Predictions(of, mean, variance, noise, log_shares, log_count, t.expand(k * m, len(t)).numpy())
        return Mixtures(draws, m, num_multiples)

    def quantiles(self, score: float) -> Tensor:
        """``m`` quantiles in the outcome's units, of the probability that a standard normal has below a score."""
        learned = self.transform if isinstance(self.transform, LearnedWarp) else None
        mixtures = self.mixtures(None if learned is None else learned.t)
        z = torch.from_numpy(mixtures.quantile(np.full(self.mean.shape[-1], score)))
        u = z if learned is None else learned.bend(z)
        return in_outcome_units(self.transform, u, torch.ones_like(u))[0]

    def _log_density(self, y: Tensor) -> Tensor:
        weights, s2, shares = self.noise
        s2 = s2 if s2.dim() > 1 else s2[:, None]
        variance = self.variance + s2 * torch.from_numpy(MULTIPLES)[:, None, None]  # 3 x k x m
        log_normal = -0.5 * ((y - self.mean).square() / variance + (2 * math.pi * variance).log())
        return (log_normal + weights.log()[:, None] + shares.log()[:, None, None]).logsumexp((0, 1))  # eq. 19.6
