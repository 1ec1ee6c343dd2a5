"""The order of observations: one that follows from what they are, whatever that of the trials is."""

import hashlib
import struct
from collections import Counter
from collections.abc import Sequence

DIGITS = 9  # of coordinates in the unit cube: in other units they differ by rounding


def digest(*numbers: float) -> bytes:
    """A hash of numbers, the same on every machine: what it orders is a fair sample as far as one looks."""
    content = struct.pack(f"<{len(numbers)}d", *(round(number, DIGITS) + 0.0 for number in numbers))
    return hashlib.blake2b(content, digest_size=8).digest()


def own_order(rows: Sequence[Sequence[float]], values: Sequence[tuple[float, ...]]) -> list[int]:
    """Indices of observations in an order in which the first are a fair sample, and those at one point are together.

    At a point it is that of a hash of the ranks of the values there, which no affine map of all values changes.

    Args:
        rows: Their points.
        values: Of each what was measured, larger being better, its noise, and whatever else tells it from others.
    """
    points, ranks = [digest(*row) for row in rows], Counter[bytes]()
    places: dict[int, tuple[bytes, bytes]] = {}
    for i in sorted(range(len(points)), key=lambda i: values[i]):
        places[i] = points[i], digest(ranks[points[i]])
        ranks[points[i]] += 1
    return sorted(places, key=lambda i: places[i])
