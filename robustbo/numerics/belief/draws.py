"""Draws of everything that a prediction depends on, as the sampling meets them.

References:
    docs/equations.md (19.12).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor

from robustbo.numerics.belief.hyperparameters import MEAN_VARIANCE, noise_of_one
from robustbo.numerics.belief.population import Population, cholesky_factors
from robustbo.numerics.gp.model import Model
from robustbo.numerics.linalg import lapack
from robustbo.numerics.linalg.lapack import Array

MOST, COUNT = 64, 16  # observations up to which predictions are averaged over draws, and over how many at least
HUGE = 1e10  # variance of an odd observation, which leaves it without weight


class Draw(NamedTuple):
    """Hyperparameters, and what the observations say given which are right and how noisy.

    Attributes:
        weight: How much it counts.
        theta: ``p`` hyperparameters.
        rho: ``n`` added variances: of those that are noisier than most, and of odd ones.
        s2: Noise variance of most observations; NaN where the noise is known.
        m: Constant mean.
        root: ``n x n``: its transpose times itself is P, the inverse covariance of the observations that are right,
            and zero elsewhere.
        al: ``n`` values of P (y - m).
    """

    weight: float
    theta: Tensor
    rho: Tensor
    s2: float
    m: Tensor
    root: Tensor
    al: Tensor


class DrawCollection:
    """Draws of all chains at every so many sweeps, the last among them; none of many observations.

    The constant mean, which the chains integrate out, is drawn too: of all draws together from quantiles of its
    posterior given the rest, as far apart as can be, in random order.

    Args:
        model: What stays fixed.
        weights: How much each of the ``B`` chains counts.
        sweeps: How many there are.
        seed: Of the draws of the mean.
    """

    def __init__(self, model: Model, weights: Array, sweeps: int, seed: int) -> None:
        self._model, self._weights, self._left, self._seed = model, weights, sweeps, seed
        self._every = max(1, sweeps * len(weights) // COUNT) if len(model.y) <= MOST else math.inf
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def take(self, theta: Array, population: Population) -> None:
        """Take the draws of a sweep, if it is one of those."""
        self._left -= 1
        if math.isinf(self._every) or self._left % self._every:
            return
        s2 = noise_of_one(self._model, theta, population.systems.s2)
        rho = np.where(population.is_odd, HUGE, population.noise - population.systems.s2)
        noise = np.full(len(s2), math.nan) if self._model.s2_known is not None else s2.copy()
        systems = population.systems
        Sg = population.right_covariances(systems._replace(K=systems.K - MEAN_VARIANCE))
        self._parts.append((self._weights, theta.copy(), rho, noise, Sg, systems.r.copy(), population.is_odd))

    @property
    def draws(self) -> list[Draw]:
        """The draws, whose weights add up to one."""
        if not self._parts:
            return []
        weights, theta, rho, s2, Sg, y, is_odd = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        count = len(weights)
        normal = ndtri((np.random.default_rng(self._seed).permutation(count) + 0.5) / count)
        root = lapack.inverse_root(cholesky_factors(Sg)).masked_fill_(torch.from_numpy(is_odd).unsqueeze(-2), 0.0)
        m, al = _draw_means(root.numpy(), y, normal)
        before, after = map(torch.from_numpy, (theta, rho)), (torch.from_numpy(m), root, torch.from_numpy(al))
        rows = zip((weights / weights.sum()).tolist(), *before, s2.tolist(), *after, strict=True)
        return [Draw(*row) for row in rows]


def _draw_means(root: Array, y: Array, normal: Array) -> tuple[Array, Array]:
    """Means at so many standard deviations of their posteriors, and what the observations say beside them.

    Args:
        root: ``S x n x n`` roots of P, see `Draw`.
        y: ``S x n`` observations.
        normal: ``S`` numbers of standard deviations.

    Returns:
        ``S`` means m, and ``S x n`` values of P (y - m).
    """
    on_y, on_one = (root @ y[:, :, None])[..., 0], root.sum(-1)
    variance = 1 / (1 / MEAN_VARIANCE + np.square(on_one).sum(-1))
    m = variance * np.vecdot(on_one, on_y) + np.sqrt(variance) * normal  # eq. 19.12
    return m, ((on_y - m[:, None] * on_one)[:, None, :] @ root)[:, 0]
