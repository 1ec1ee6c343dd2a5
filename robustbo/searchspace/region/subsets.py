"""Groups of parameters of which at most some are on, as columns, and subsets of them that are drawn."""

import math

import numpy as np

from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constraint_set import Bools


class Group:
    """A group as columns of ``on``.

    Attributes:
        at: The columns of ``on``.
        most: How many may be on.
    """

    def __init__(self, group: AtMost, names: list[str]) -> None:
        self.at = np.array([names.index(name) for name in group.names], dtype=np.intp)
        self.most = group.most


def draw_subsets(u: np.ndarray, m: int, most: int) -> Bools:
    """``n x m`` subsets by as many numbers of the unit interval: all sizes as often, all subsets of a size as often.

    Example:
        >>> draw_subsets(np.array([0.1, 0.5, 0.6, 0.99]), 3, 1).astype(int).tolist()
        [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]]
    """
    subsets = np.zeros((len(u), m), dtype=bool)
    sizes = np.minimum((u * (min(most, m) + 1)).astype(int), min(most, m))
    for i, size in enumerate(sizes.tolist()):
        number = int((u[i] * (min(most, m) + 1) - size) * math.comb(m, size))
        for j in range(m):  # in the order of the alphabet
            if not size:
                break
            if (with_j := math.comb(m - j - 1, size - 1)) > number:
                subsets[i, j], size = True, size - 1
            else:
                number -= with_j
    return subsets
