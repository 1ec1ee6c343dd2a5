"""Points that lie apart: where an optimization has converged, most values lie at one place.

Their spread is that of neighbors, or of noise. In units of it the objective varies by thousands, and right values far
from the cluster look wrong.
"""

import math

import torch
from torch import Tensor

from robustbo.numerics.linalg.farthest import farthest_points

NEAR = 0.1  # distance by coordinate of the unit cube within which points are one place
FEWEST = 3  # places, of which one may have a wrong value


def places_apart(X: Tensor, most: int) -> list[int]:
    """Indices of points that are apart from each other, near one of which all others are; none of too few or many.

    Args:
        X: ``n x d`` points of the unit cube.
        most: How many there may be.

    Example:
        >>> places_apart(torch.tensor([[0.0], [0.5], [0.51], [0.5], [0.51], [1.0]]), 3)
        [0, 5, 1]
    """
    places, near = [0], NEAR * math.sqrt(X.shape[-1])
    for index, distance in farthest_points(X, _length(X - X[0]), _length):
        if not distance >= near:
            return places if len(places) >= FEWEST else []
        if len(places) == most:
            return []
        places.append(index)
    return []


def _length(D: Tensor) -> Tensor:
    return torch.linalg.norm(D, dim=-1)
