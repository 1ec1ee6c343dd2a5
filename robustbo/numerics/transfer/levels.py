"""Errors of levels (epochs, meshes), which shrink towards the target's level.

The error of a level is the sum of independent steps from it to the target: levels near each other err alike, and the
target's own error is nothing.

Notation (no batch dimensions):
    u      m      distance of each row's level from the target's: |log(level / target's)|
    gamma         how steeply errors shrink
    h      k      variance of the error at the k distances that occur, in that of the farthest: rising from 0 to 1
    H      m x m  covariances of the rows' errors by their levels: h at the smaller distance of two

References:
    Kennedy and O'Hagan (2000), Predicting the output from a complex computer code when fast approximations are
    available, for independent steps from level to level; docs/equations.md section 22.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array


class Levels:
    """The levels of a source's rows.

    Args:
        u: ``m`` distances of the rows' levels, all above 0.
        farthest: The largest distance of all levels.
    """

    def __init__(self, u: Array, farthest: float) -> None:
        self.u, self._farthest = u, farthest
        self.distances, self._place = np.unique(u, return_inverse=True)

    def heights(self, gamma: Array, u: Array) -> tuple[Array, Array]:
        """``... x k`` variances of the error at ``k`` distances, and their derivatives in log gamma (``... x 1``)."""
        scale, at_end, growth = np.expm1(gamma * self._farthest), self._farthest, np.expm1(gamma * u)
        h = growth / scale  # eq. 22.13
        slope = (u * (growth + 1) - h * at_end * (scale + 1)) / scale
        return h, gamma * slope

    @cached_property
    def _nearer(self) -> NDArray[np.intp]:
        return np.minimum(self._place[:, None], self._place)

    def matrix(self, h: Sequence[float] | Array) -> Array:
        """``... x m x m`` matrices H, or their derivatives, from numbers at the distances that occur."""
        return np.asarray(h)[..., self._nearer]

    def steps(self, h: Array) -> list[tuple[float, Array]]:
        """The step of the numbers to each distance, and the ``m`` rows that it is part of, as 0 or 1.

        H = sum of step times 1 1' over these rows.
        """
        return [(float(step), (self._place >= k).astype(float)) for k, step in enumerate(np.diff(h, prepend=0.0))]
