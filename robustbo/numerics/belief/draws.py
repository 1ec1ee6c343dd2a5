"""Draws of everything that a prediction depends on, as the sampling meets them.

References:
    docs/equations.md (19.12).
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.belief.population import Population
from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.linalg.lapack import Array

MOST, COUNT = 64, 16  # observations up to which predictions are averaged over draws, and over how many at least


class Draw(NamedTuple):
    """Hyperparameters, and the observations given which are right and how noisy; the constant mean is integrated out.

    Attributes:
        weight: How much it counts.
        theta: ``p`` hyperparameters.
        s2: Noise variance of most observations; NaN where the noise is known.
        P: ``n x n`` inverse covariance of the observations that are right, zero elsewhere.
        al: ``n`` values of P y.
    """

    weight: float
    theta: Tensor
    s2: float
    P: Tensor
    al: Tensor


class DrawCollection:
    """Draws of all chains at every so many sweeps, the last among them; none of many observations.

    Args:
        model: What stays fixed.
        weights: How much each of the ``B`` chains counts.
        sweeps: How many there are.
    """

    def __init__(self, model: Model, weights: Array, sweeps: int) -> None:
        self._is_noise_known, self._weights, self._left = model.s2_known is not None, weights, sweeps
        self._every = max(1, sweeps * len(weights) // COUNT) if len(model.y) <= MOST else math.inf
        self._draws: list[Draw] = []

    def take(self, theta: Array, population: Population) -> None:
        """Take the draws of a sweep, if it is one of those."""
        self._left -= 1
        if self._left % self._every or math.isinf(self._every):
            return
        P, al = map(torch.from_numpy, population.processes())
        s2 = np.full(len(theta), math.nan) if self._is_noise_known else population.systems.s2[:, 0]
        columns = self._weights.tolist(), torch.from_numpy(theta.copy()), s2.tolist(), P, al
        self._draws += [Draw(*of_chain) for of_chain in zip(*columns, strict=True)]

    @property
    def draws(self) -> list[Draw]:
        """The draws, whose weights add up to one."""
        total = math.fsum(draw.weight for draw in self._draws)
        return [draw._replace(weight=draw.weight / total) for draw in self._draws]
