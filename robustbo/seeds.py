"""(root seed, trial, purpose) -> generator: every random draw belongs to a trial and a purpose.

Because nothing is drawn from a running stream, resuming and replaying need no saved random state.
"""

import hashlib

import numpy as np


def derive(root: int, trial: int, purpose: str) -> int:
    """A seed in [0, 2^63) that depends on nothing but its arguments.

    Args:
        root: The run's seed.
        trial: The trial (or replication) that the draw belongs to.
        purpose: What is drawn, such as ``"corruption"``.

    Example:
        >>> derive(0, 3, "corruption") == derive(0, 3, "corruption")
        True
        >>> derive(0, 3, "corruption") == derive(0, 4, "corruption")
        False
    """
    digest = hashlib.blake2b(f"{root}/{trial}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def generator(root: int, trial: int, purpose: str) -> np.random.Generator:
    """A NumPy generator of its own for one trial and purpose."""
    return np.random.default_rng(derive(root, trial, purpose))
