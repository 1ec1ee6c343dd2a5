"""Computations that cannot hear the outside: one thread, seeded generators, and the world put back afterwards.

BoTorch draws from the global generators of torch, NumPy and Python, and sums depend on the number of threads, torch's
and those of the linear algebra that NumPy and SciPy bring.
Bit for bit replay needs both pinned while a decision is made, and a user's own state untouched after it.
"""

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

import numpy as np
import scipy.linalg  # noqa: F401 - so that its library is loaded, and found below
import torch
from threadpoolctl import ThreadpoolController

_one_at_a_time = threading.RLock()


@contextmanager
def pinned() -> Iterator[None]:
    """Run the block with the settings that numbers depend on as the libraries have them by default.

    These are torch's default type and device, its gradient and inference modes, and what NumPy does of an overflow:
    whatever a caller has set comes back afterwards. Blocks nest; those of several threads wait for each other.

    Example:
        >>> with torch.no_grad(), pinned():
        ...     torch.is_grad_enabled()
        True
    """
    with _one_at_a_time, np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        if _is_default():
            yield
            return
        dtype, device = torch.get_default_dtype(), torch.get_default_device()
        on_cpu = nullcontext() if device.type == "cpu" else torch.device("cpu")  # which costs time in each operation
        torch.set_default_dtype(torch.float32)
        try:
            with torch.inference_mode(False), torch.enable_grad(), on_cpu:
                yield
        finally:
            torch.set_default_dtype(dtype)


def _is_default() -> bool:
    is_plain = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return is_plain and torch.get_default_dtype() == torch.float32 and torch.get_default_device().type == "cpu"


@contextmanager
def isolated(seed: int) -> Iterator[None]:
    """Run the block `pinned`, on one thread with all global generators seeded, then restore everything.

    Args:
        seed: In [0, 2^63).

    Example:
        >>> with isolated(0):
        ...     a = torch.rand(1)
        >>> with isolated(0):
        ...     assert torch.rand(1) == a
    """
    with pinned(), torch.random.fork_rng(devices=[]), _libraries().limit(limits=1, user_api="blas"):
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


def _renew_after_fork() -> None:
    """Another thread of the parent's may have held the lock, and is not there any more to let it go."""
    global _one_at_a_time
    _one_at_a_time = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
