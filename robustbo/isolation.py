"""Computations that cannot hear the outside: one thread, seeded generators, and the world put back afterwards.

BoTorch draws from the global generators of torch, NumPy and Python, and sums depend on the number of threads, torch's
and those of the linear algebra that NumPy and SciPy bring.
Bit for bit replay needs both pinned while a decision is made, and a user's own state untouched after it.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import scipy.linalg  # noqa: F401 - so that its library is loaded, and found below
import torch
from threadpoolctl import ThreadpoolController

ONE_AT_A_TIME = threading.RLock()


@contextmanager
def isolated(seed: int) -> Iterator[None]:
    """Run the block on one thread with all global generators seeded, then restore everything.

    Blocks nest; those of several threads wait for each other, since all that is pinned here is the whole process's.

    Args:
        seed: In [0, 2^63).

    Example:
        >>> with isolated(0):
        ...     a = torch.rand(1)
        >>> with isolated(0):
        ...     assert torch.rand(1) == a
    """
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]), _libraries().limit(limits=1, user_api="blas"):
        threads = torch.get_num_threads()
        python_state = random.getstate()
        numpy_state = np.random.get_state()  # noqa: NPY002
        try:
            torch.set_num_threads(1)
            torch.default_generator.manual_seed(seed)  # the CPU's, which `fork_rng` puts back; no device's
            random.seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002
            yield
        finally:
            torch.set_num_threads(threads)
            random.setstate(python_state)
            np.random.set_state(numpy_state)  # noqa: NPY002


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
