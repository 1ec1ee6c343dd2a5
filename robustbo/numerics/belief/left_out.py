"""Prediction of each observation by the others, from the draws of the sampling: a mixture of normal distributions.

A draw is of all that is not known but the observation's own state: which of the others are odd, how noisy they are, the
hyperparameters, the rate and the tails. It was drawn given all observations, the one in question too. Given the others
alone it would have been less probable by the factor m, the density that it gives the observation, so that it counts
1 / m. No weight is large, since an odd observation's density bounds m from below. Of such draws the odds that the
observation is odd are, to the digit, those of the mean of q: expectation, interval, evidence and probability are of one
computation.

Notation (m normal distributions, of n observations):
    W     m x 3   weights, which add up to one for each observation
    mean  m       predictions of right ones, sd  m x 3  their standard deviations, in the units of a draw's warp
    z     n       numbers in the units before the warp

References:
    Gelfand, Dey and Chang (1992), Model determination using predictive distributions with implementation via
    sampling-based methods, for the weights; docs/equations.md section 19.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import ndtr
from torch import Tensor

from robustbo.numerics.belief.densities import MULTIPLES
from robustbo.numerics.belief.predictions import Predictions
from robustbo.numerics.gp.warp import Warps
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
STEPS, CLOSE = 60, 1e-10  # of a search for a quantile, and how close to the probability it comes
NEWTON = 6  # steps to a squared error from above


class Expectations(NamedTuple):
    """Expectations of ``n`` observations, before the warp.

    Attributes:
        center: The medians of what is predicted.
        side: On the side of the observation, what is one standard deviation s away: within s lie 68 % at least, within
            2 s 95 %; less, where the density at the observation is lower than that of a normal distribution so wide.
        log_density: Log densities of the observations, if they are right.
        evidence: Nats by which an error of the observation's own explains it better.
    """

    center: Tensor
    side: Tensor
    log_density: Tensor
    evidence: Tensor


class Mixtures:
    """The distributions of ``n`` right observations, before the warp.

    Args:
        draws: What is predicted.
        n: How many observations there are; there must be a draw of each.
        num_multiples: How many of the noise's multiples there are: all, or those that right observations have.
    """

    def __init__(self, draws: Predictions, n: int, num_multiples: int = len(MULTIPLES)) -> None:
        self._draws, self._n = draws, n
        self._warps = Warps(draws.t) if draws.t[:, :2].any() else None
        self._sd = np.sqrt(draws.v[:, None] + draws.s2[:, None] * MULTIPLES[:num_multiples])
        log_W = draws.log_weight[:, None] + draws.log_shares[:, :num_multiples]
        log_W -= self._extremes(np.maximum, log_W.max(1), -math.inf)[draws.of, None]
        W = np.exp(log_W)
        self._W = W / self._sum(W)[draws.of, None]

    def share(self, num_multiples: int) -> Array:
        """``n`` shares of the first of the noise's multiples."""
        return self._sum(self._W[:, :num_multiples])

    def expectations(self, z: Array) -> Expectations:
        """Expectations of observations, and the evidence against them."""
        center = self.quantile(np.zeros(self._n))
        is_above = z >= center
        ways = [np.abs(self.quantile(np.where(is_above, far, -far)) - center) / far for far in (1.0, 2.0)]
        log_density, e, sd = self.log_density(z), np.abs(z - center), np.maximum(*ways)  # eq. 19.9
        widest = np.maximum(np.maximum(e, sd), np.finfo(float).tiny)
        own = -np.log(widest) - 0.5 * np.square(e / widest) - HALF_LOG_2PI
        evidence = np.maximum(own - log_density, 0.0)  # eq. 19.10
        may_be_less = (evidence > 0) & (e > 0)
        sd = np.minimum(sd, e / np.sqrt(_squared_error_of(evidence)), where=may_be_less, out=sd)  # eq. 19.11
        side = np.where(is_above, center + sd, center - sd)
        return Expectations(*(torch.from_numpy(x) for x in (center, side, log_density, evidence)))

    @lapack.quiet()  # the square of a gross error
    def log_density(self, z: Array) -> Array:
        """``n`` log densities."""
        draws, (u, log_slope) = self._draws, self._warp(z)
        with np.errstate(divide="ignore"):
            log_W = np.log(self._W)
        heights = log_W - np.log(self._sd) - 0.5 * np.square((u - draws.mean)[:, None] / self._sd)
        heights += log_slope[:, None]
        highest = self._extremes(np.maximum, heights.max(1), -math.inf)
        sums = self._sum(np.exp(heights - highest[draws.of, None]))
        log_density: Array = highest + np.log(sums) - HALF_LOG_2PI
        return log_density  # eq. 19.8

    def quantile(self, score: Array) -> Array:
        """``n`` quantiles, of the probabilities that a standard normal distribution has below some scores.

        Those of the single normal distributions are bounds; between these it is searched by Newton's steps.
        """
        p, scores = ndtr(score), score[self._draws.of, None]
        ends = self._unwarp(self._draws.mean[:, None] + scores * self._sd[:, [0, -1]])
        low, high = (
            self._extremes(np.minimum, ends.min(1), math.inf),
            self._extremes(np.maximum, ends.max(1), -math.inf),
        )
        z = self._weighted_median(ends[:, 0])
        for _ in range(STEPS):
            below, density = self._distribution(z)
            off = below - p
            if (np.abs(off) < CLOSE).all():
                break
            low, high = np.where(off < 0, z, low), np.where(off > 0, z, high)
            newton = z - off / np.maximum(density, np.finfo(float).tiny)
            z = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
        return z

    def _distribution(self, z: Array) -> tuple[Array, Array]:
        """``n`` probabilities of less, and densities."""
        u, log_slope = self._warp(z)
        x = (u - self._draws.mean)[:, None] / self._sd
        density = self._W * np.exp(-0.5 * np.square(x) + log_slope[:, None] - HALF_LOG_2PI) / self._sd
        return self._sum(self._W * ndtr(x)), self._sum(density)

    def _warp(self, z: Array) -> tuple[Array, Array]:
        """``m`` numbers in the units of each draw's warp, and logarithms of its slopes there."""
        z = z[self._draws.of]
        if self._warps is None:
            return z, np.zeros_like(z)
        u, log_slope = self._warps.warp(z[:, None])
        return u[:, 0], log_slope[:, 0]

    def _unwarp(self, u: Array) -> Array:
        """``m x k`` numbers before each draw's warp."""
        return u if self._warps is None else self._warps.unwarp(u)

    def _weighted_median(self, x: Array) -> Array:
        """``n`` medians of ``m`` numbers, one of a draw."""
        order = np.lexsort((x, self._draws.of))
        of, below = self._draws.of[order], self._W[order].sum(1).cumsum()
        first = np.searchsorted(below, np.arange(self._n) + 0.5)  # each observation's weights add up to one
        median: Array = x[order[np.clip(first, np.searchsorted(of, np.arange(self._n)), len(of) - 1)]]
        return median

    def _sum(self, x: Array) -> Array:
        """``n`` sums of ``m x k`` numbers."""
        sums: Array = np.bincount(self._draws.of, x.sum(1), self._n).astype(np.float64, copy=False)
        return sums

    def _extremes(self, by: np.ufunc, x: Array, initial: float) -> Array:
        """``n`` minima or maxima of ``m`` numbers."""
        bounds = np.full(self._n, initial)
        by.at(bounds, self._draws.of, x)
        return bounds


def _squared_error_of(evidence: Array) -> Array:
    """Squared standardized errors that a normal distribution has so much evidence against (`gp.outlier_gain`)."""
    q = 1 + 2 * evidence + 2 * np.sqrt(evidence)
    for _ in range(NEWTON):
        q -= (q - 1 - np.log(q) - 2 * evidence) * q / np.maximum(q - 1, np.finfo(float).tiny)
    return np.maximum(q, 1.0)
