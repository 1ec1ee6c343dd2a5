"""Computations that cannot hear the outside: one thread, random numbers of their own, the world put back afterwards.

BoTorch draws from torch's global generator, and sums depend on the number of threads, torch's and those of the linear
algebra that NumPy and SciPy bring. Bit for bit replay needs both pinned while a decision is made, and a user's own
state untouched.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch

from robustbo.determinism.generator import OwnGenerator
from robustbo.determinism.surroundings import default_surroundings
from robustbo.determinism.threads import one_thread

T = TypeVar("T")


@contextmanager
def isolation(seed: int) -> Iterator[None]:
    """Run the block as `pin_surroundings` does, on one thread, with torch's random numbers from a generator of its own.

    The global generators stay as they are, so that no other thread changes what is drawn here, nor is changed by it.
    For this library's own code, and BoTorch's; see `seed_everything` for any other.

    Args:
        seed: In [0, 2^63).

    Example:
        >>> with isolation(0):
        ...     a = torch.rand(1)
        >>> with isolation(0):
        ...     assert torch.rand(1) == a
    """
    with default_surroundings(), one_thread(), OwnGenerator(seed):
        yield


@contextmanager
def seed_everything(seed: int) -> Iterator[None]:
    """Run code that may draw from anywhere: the generators of torch, NumPy and Python are seeded, then put back.

    They belong to the whole process: another thread that draws at the same time is disturbed, and disturbs. And torch's
    default type is whatever it is set to, in which others' models make what they are not told the type of.

    Args:
        seed: In [0, 2^63).
    """
    torchs = _preserve(torch.get_rng_state, torch.set_rng_state)
    with default_surroundings(), one_thread(), torchs, seed_python(seed):
        torch.default_generator.manual_seed(seed)  # the CPU's; no device's
        yield


@contextmanager
def seed_python(seed: int) -> Iterator[None]:
    """Run the block with the generators of Python and NumPy seeded, then put back."""
    with (
        _preserve(random.getstate, random.setstate),
        _preserve(np.random.get_state, np.random.set_state),
    ):
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        yield


@contextmanager
def _preserve(get: Callable[[], T], put: Callable[[T], object]) -> Iterator[None]:
    """Put back what the block changes, though an interrupt comes into that."""
    state = get()
    try:
        try:
            yield
        finally:
            put(state)
    finally:
        put(state)
