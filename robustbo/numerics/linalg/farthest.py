"""Selection of points that cover a set: one after the other, each the farthest from all before it.

References:
    Gonzalez (1985), Clustering to minimize the maximum intercluster distance.
"""

from collections.abc import Callable, Iterator

from torch import Tensor


def farthest_points(Z: Tensor, distances: Tensor, length: Callable[[Tensor], Tensor]) -> Iterator[tuple[int, float]]:
    """Indices of points, each the farthest from all before it, and its distance from the nearest of these; endless.

    Args:
        Z: ``m x d`` points.
        distances: ``m`` distances from the nearest of the points before the first.
        length: The lengths of ``m x d`` differences, in the measure of the distances.

    Example:
        >>> import torch
        >>> from itertools import islice
        >>> Z = torch.tensor([[0.0], [1.0], [4.0]])
        >>> [index for index, _ in islice(farthest_points(Z, Z[:, 0], lambda D: D.abs().sum(-1)), 2)]
        [2, 1]
    """
    while True:
        farthest = int(distances.argmax())
        yield farthest, float(distances[farthest])
        distances = distances.minimum(length(Z - Z[farthest]))
