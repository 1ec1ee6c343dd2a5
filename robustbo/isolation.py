"""Computations that cannot hear the outside: one thread, random numbers of their own, the world put back afterwards.

BoTorch draws from torch's global generator, and sums depend on the number of threads, torch's and those of the linear
algebra that NumPy and SciPy bring. Bit for bit replay needs both pinned while a decision is made, and a user's own
state untouched.
"""

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 - so that its library is loaded, and found below
import torch
from threadpoolctl import ThreadpoolController
from torch.overrides import TorchFunctionMode

_one_at_a_time = threading.RLock()
_local = threading.local()

LIKE = {torch.rand_like: torch.rand, torch.randn_like: torch.randn}
IN_PLACE = ("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_")
INITIALIZING = (
    *("kaiming_normal_", "kaiming_uniform_", "normal_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_"),
    *("xavier_normal_", "xavier_uniform_"),
)
DRAWING = {
    *(torch.bernoulli, torch.multinomial, torch.normal, torch.poisson, torch.rand, torch.randint, torch.randn),
    *(torch.randperm, torch.Tensor.bernoulli, torch.Tensor.multinomial),
    *(getattr(torch.Tensor, name) for name in IN_PLACE),
    *(getattr(torch.nn.init, name) for name in INITIALIZING),
    *LIKE,
}


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
    """Run the block `pinned`, on one thread, with torch's random numbers from a generator of its own.

    The global generators stay as they are, so that no other thread changes what is drawn here, nor is changed by it.
    For this library's own code, and BoTorch's; see `seeded` for any other.

    Args:
        seed: In [0, 2^63).

    Example:
        >>> with isolated(0):
        ...     a = torch.rand(1)
        >>> with isolated(0):
        ...     assert torch.rand(1) == a
    """
    outer = getattr(_local, "draws", None)
    with _alone():
        draws = _local.draws = _Draws(seed)
        try:
            with draws:
                yield
        finally:
            _local.draws = outer


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The same for code that may draw from anywhere: the generators of torch, NumPy and Python are seeded meanwhile.

    They belong to the whole process: another thread that draws at the same time is disturbed, and disturbs.

    Args:
        seed: In [0, 2^63).
    """
    with _alone(), torch.random.fork_rng(devices=[]), drawing_in_python(seed):
        torch.default_generator.manual_seed(seed)  # the CPU's, which `fork_rng` puts back; no device's
        yield


@contextmanager
def _alone() -> Iterator[None]:
    """Run the block `pinned`, on one thread."""
    with pinned(), _libraries().limit(limits=1, user_api="blas"):
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(1)
            yield
        finally:
            torch.set_num_threads(threads)


class _Draws(TorchFunctionMode):
    """Random numbers from a generator of its own, in this thread, wherever none is named."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func not in DRAWING:  # nearly always
            return func(*args, **kwargs) if kwargs else func(*args)
        kwargs = kwargs or {}
        if kwargs.get("generator") is None:
            if func in LIKE:  # which take one in newer torch alone
                like, *rest = args
                func, args = LIKE[func], (*rest, like.shape)
                kwargs = {"dtype": like.dtype, "device": like.device, **kwargs}
            kwargs = {**kwargs, "generator": self._generator}
        return func(*args, **kwargs)


@contextmanager
def drawing_nothing() -> Iterator[None]:
    """Run a block of `isolated` that needs no random numbers without looking for them: a tenth faster."""
    draws: _Draws | None = getattr(_local, "draws", None)
    if draws is None:
        yield
        return
    _local.draws = None
    draws.__exit__(None, None, None)
    try:
        yield
    finally:
        draws.__enter__()
        _local.draws = draws


@contextmanager
def drawing_in_python(seed: int) -> Iterator[None]:
    """Run the block with the generators of Python and NumPy seeded, then put back."""
    python_state = random.getstate()
    numpy_state = np.random.get_state()  # noqa: NPY002
    try:
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        yield
    finally:
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
