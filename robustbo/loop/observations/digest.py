"""The order of observations: one that follows from what they are, whatever that of the trials is."""

import hashlib
import struct


def digest(*numbers: float) -> bytes:
    """A hash of numbers, the same on every machine: what it orders is a fair sample as far as one looks."""
    return hashlib.blake2b(
        struct.pack(f"<{len(numbers)}d", *(number + 0.0 for number in numbers)), digest_size=8
    ).digest()
