"""The model of a search for a GP's hyperparameters: observations, covariance function, priors; and its noise.

Notation (no batch dimensions: a search is one search):
    s2     n      noise variances
    theta  p      logarithms of the kernel's hyperparameters, then log s2 unless the noise is known, then the warp's t

References:
    docs/equations.md section 6.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.covariance import CovarianceFunction
from robustbo.numerics.gp.parameters import Block, LogNormal
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.gp.warp import WarpedOutcomes

LOG_S2 = (math.log(1e-4), math.log(1e4))  # the lower bound is BoTorch's, on standardized outcomes


class Model(NamedTuple):
    """Observations, covariance function and priors: what stays fixed in a search for hyperparameters.

    Attributes:
        y: ``n`` observations, standardized; before the warp, where there is one.
        covariance: Of the latent values.
        s2_prior: Prior of the noise variance.
        s2_known: ``n`` known noise variances, likewise; the noise is not searched then.
        s2_parts: Where the noise is known for some alone, or some are means: ``n`` known noise variances (else 0), and
            ``n`` shares of the searched one (0 where it is known, 1/k for a mean of k).
        cleared: ``n`` booleans: the observations that need no variance of their own, whatever they would gain by it.
        vouched: ``n`` booleans: those of the cleared that are right by the user's word, and no noisier than most.
        groups: Which observations are right or wrong together.
        warp: The coordinates of the observations' warp, `warp.FREE` or `warp.fixed_warp`; none where there is no warp.
        s2_least: The least noise variance that is searched: that of rounding (`resolution`), or the least that matters.
    """

    y: Tensor
    covariance: CovarianceFunction
    s2_prior: LogNormal
    s2_known: Tensor | None = None
    cleared: Tensor | None = None
    groups: Groups = Groups()
    warp: tuple[Block, ...] = ()
    s2_least: float = 0.0
    s2_parts: tuple[Tensor, Tensor] | None = None
    vouched: Tensor | None = None

    @property
    def blocks(self) -> list[Block]:
        """Blocks of theta beside those of the covariance: noise and warp."""
        noise = [noise_block(self.s2_prior, self.s2_least)] if self.s2_known is None else []
        return [*noise, *self.warp]

    @property
    def starts(self) -> list[Tensor]:
        """Values of theta at which cold searches begin, the most plausible first."""
        return parameters.starts(self.blocks, self.covariance.starts)

    @property
    def is_informed(self) -> bool:
        """Return whether the covariance has tangents, which the information needs."""
        return self.covariance.prior_precision is not None

    @property
    def prior_precision(self) -> Tensor | None:
        """``p`` negative second derivatives of the log prior; None where the covariance does not tell its own."""
        head = self.covariance.prior_precision
        return None if head is None else torch.cat([head, head.new_tensor(parameters.prior_precisions(self.blocks))])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of theta."""
        return self.covariance.bounds + parameters.bounds(self.blocks)

    @property
    def num_free(self) -> int:
        """Number of hyperparameters, the mean included; without those of the warp, which costs by its prior alone."""
        return len(self.bounds) + 1 - len(self.warp)

    def warp_at(self, theta: Tensor) -> WarpedOutcomes | None:
        """The observations' warp at some hyperparameters; None where there is none, or it is held straight."""
        t = theta.tolist()[len(theta) - len(self.warp) :]
        is_straight = not any(t) and all(block.bounds == (0.0, 0.0) for block in self.warp)
        return None if is_straight else WarpedOutcomes(self.y.numpy(), t)


@lru_cache
def noise_block(s2_prior: LogNormal, least: float = 0.0) -> Block:
    """The noise variance that is searched."""
    low, high = LOG_S2
    low = min(max(low, math.log(least)), high) if least > 0 else low
    return Block("s2", (max(s2_prior.log_mode, low),), (low, high), s2_prior)


def noise(model: Model, theta: Tensor, bend: WarpedOutcomes | None = None) -> Tensor:
    """``n`` noise variances at some hyperparameters: known, or one for all; of warped observations by their warp."""
    assert model.s2_known is None or model.s2_parts is None, "theta has no noise where it is known of all"
    if model.s2_known is None and model.s2_parts is None:
        return new_noise(model, theta).expand_as(model.y)
    bend = model.warp_at(theta) if bend is None else bend
    if model.s2_parts is not None:
        fixed, share = model.s2_parts
        fixed = fixed if bend is None else fixed * torch.from_numpy(np.exp(2 * bend.log_slope))
        return fixed + share * new_noise(model, theta)  # eq. 6.21
    assert model.s2_known is not None
    return model.s2_known if bend is None else model.s2_known * torch.from_numpy(np.exp(2 * bend.log_slope))


def new_noise(model: Model, theta: Tensor) -> Tensor:
    """The noise variance of a single measurement that is searched."""
    return theta[len(model.covariance.bounds)].exp()
