"""The order of observations: one that follows from what they are, whatever that of the trials is."""

import hashlib
import struct
from collections.abc import Sequence


def digest(*numbers: float) -> bytes:
    """A hash of numbers, the same on every machine: what it orders is a fair sample as far as one looks."""
    return hashlib.blake2b(
        struct.pack(f"<{len(numbers)}d", *(number + 0.0 for number in numbers)), digest_size=8
    ).digest()


def own_place(row: Sequence[float], *value: float) -> tuple[bytes, bytes]:
    """Key of an order in which the first observations are a fair sample, and those at one point stand together.

    Args:
        row: The point.
        value: What was measured there, its noise, and whatever else tells it from others.
    """
    return digest(*row), digest(*value)
