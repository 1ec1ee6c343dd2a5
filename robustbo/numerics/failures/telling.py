"""Places that tell most of where trials fail: those along the boundaries, and some of everywhere.

Of many places most say again what their neighbours have said, and a model costs the cube of their number. So places are
chosen one after the other, each time the one that is farthest from all chosen before: by turns of all places, and of
those whose nearest chosen place ended otherwise. The first cover where trials have been, the others crowd where what
becomes of trials changes. The beginning of the list is what a shorter list would be.

Notation:
    Z   n x d  places
    d2  n      squared distances to the nearest chosen place

References:
    docs/equations.md section 15; Gonzalez (1985), Clustering to minimize the maximum intercluster distance, for the
    farthest; Hart (1968), The condensed nearest neighbor rule, for those that the chosen ones say wrongly.
"""

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array

EXCLUDED = -1.0  # in place of the squared distance of those that are chosen


def most_informative(Z: Array, is_ok: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
    """The numbers of ``count`` places, of all if there are no more, in the order in which they are chosen.

    Args:
        Z: ``n x d`` places, at least one.
        is_ok: Whether a trial gave a value at each of ``n``.
        count: How many are wanted.
    """
    d2, nearest = np.full(len(Z), np.inf), np.zeros(len(Z), dtype=np.intp)
    order = list[int]()
    for turn in range(min(count, len(Z))):
        is_wrong = (is_ok != is_ok[nearest]) & (d2 > EXCLUDED)
        among = np.where(is_wrong, d2, EXCLUDED) if turn % 2 and is_wrong.any() else d2
        farthest = int(among.argmax())
        distance = np.square(Z - Z[farthest]).sum(-1)
        is_nearer = distance < d2
        d2[is_nearer], nearest[is_nearer] = distance[is_nearer], farthest
        d2[farthest] = EXCLUDED
        order.append(farthest)
    return np.array(order)
