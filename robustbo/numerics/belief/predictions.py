"""Draws of what the right ones of the other observations predict for each one, as the sampling records them.

References:
    docs/equations.md (19.7).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.gp.warp import NONE
from robustbo.numerics.linalg.lapack import Array


class Predictions(NamedTuple):
    """Draws of what is predicted for ``n`` observations, each a normal distribution of the latent value.

    Attributes:
        of: ``m`` integers: the observation.
        mean: ``m`` means, in the units of the draw's warp.
        v: ``m`` variances, without the noise.
        s2: ``m`` noise variances.
        log_shares: ``m x 3`` logarithms of the shares of the noise's multiples.
        log_weight: ``m`` logarithms of what the draws count, but for a constant of each observation.
        t: ``m x 3`` coordinates of the draw's warp (`gp.warp`), zero where there is none.
    """

    of: NDArray[np.intp]
    mean: Array
    v: Array
    s2: Array
    log_shares: Array
    log_weight: Array
    t: Array

    @classmethod
    def concatenate(cls, parts: Sequence["Predictions"]) -> "Predictions":
        """Return all draws of some parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def with_count(self, log_count: float) -> "Predictions":
        """Return the draws, each of which counts more or less."""
        return self._replace(log_weight=self.log_weight + log_count)

    def without(self, rows: NDArray[np.intp]) -> "Predictions":
        """The draws of all but some observations."""
        is_other = ~np.isin(self.of, rows)
        of, mean, v, s2, log_shares, log_weight, t = self
        moments = mean[is_other], v[is_other], s2[is_other]
        return Predictions(of[is_other], *moments, log_shares[is_other], log_weight[is_other], t[is_other])

    def among(self, rows: NDArray[np.intp], shift: Array, t: Array | None) -> "Predictions":
        """The draws as those of some rows among others, their means shifted, in a warp's units; as one draw of each."""
        rate = math.log(len(self.of) / len(rows))
        predictions = self._replace(of=rows[self.of], mean=self.mean + shift[self.of]).with_count(-rate)
        return predictions if t is None else predictions._replace(t=np.tile(t, (len(self.of), 1)))


class SweepDraws(NamedTuple):
    """Records of a sweep as it came to each observation, in one chain or in several.

    Attributes:
        q: ``... x n`` probabilities of saying nothing: of being odd, or of the widest noise, where that is in doubt.
        mean: ``... x n`` predictions by the right ones but itself.
        v: ``... x n`` variances of these, without the noise.
        log_weight: ``... x n`` logarithms of how much the draw counts given the others alone, but for a constant.
    """

    q: Array
    mean: Array
    v: Array
    log_weight: Array

    def predictions(
        self, s2: Array, log_shares: Array, t: Array | None = None, log_count: Array | float = 0.0
    ) -> Predictions:
        """The draws of the predictions.

        Args:
            s2: ``... x n`` noise variances.
            log_shares: ``... x 3`` logarithms of the shares of its multiples.
            t: ``... x 3`` coordinates of the warp, where there is one.
            log_count: ``...`` logarithms of how much the chains count.
        """
        shape = self.q.shape

        def on_each(of_chain: Array) -> Array:
            return np.broadcast_to(of_chain[..., None, :], (*shape, of_chain.shape[-1])).reshape(-1, of_chain.shape[-1])

        t = np.broadcast_to(NONE, (*shape[:-1], len(NONE))) if t is None else t
        of = np.broadcast_to(np.arange(shape[-1]), shape).ravel()
        log_weight = (self.log_weight + np.expand_dims(log_count, -1)).ravel()
        return Predictions(
            of, self.mean.ravel(), self.v.ravel(), s2.flatten(), on_each(log_shares), log_weight, on_each(t)
        )
