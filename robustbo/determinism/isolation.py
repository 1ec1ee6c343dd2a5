"""Computations that cannot hear the outside: one thread, random numbers of their own, the world put back afterwards.

BoTorch draws from torch's global generator, and sums depend on the number of threads, torch's and those of the linear
algebra that NumPy and SciPy bring. Bit for bit replay needs both pinned while a decision is made, and a user's own
state untouched.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from robustbo.determinism.surroundings import defaults
from robustbo.determinism.threads import one_thread

T = TypeVar("T")

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
def isolated(seed: int) -> Iterator[None]:
    """Run the block as `pinned` does, on one thread, with torch's random numbers from a generator of its own.

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
    with defaults(), one_thread(), _Draws(seed):
        yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The same for code that may draw from anywhere: the generators of torch, NumPy and Python are seeded meanwhile.

    They belong to the whole process: another thread that draws at the same time is disturbed, and disturbs.

    Args:
        seed: In [0, 2^63).
    """
    mine = _putting_back(torch.get_rng_state, torch.set_rng_state)
    with defaults(), one_thread(), mine, drawing_in_python(seed):
        torch.default_generator.manual_seed(seed)  # the CPU's; no device's
        yield


class _Draws(TorchFunctionMode):
    """Random numbers from a generator of its own, in this thread, wherever none is named.

    torch takes it from its stack while it is asked: an interrupt then finds it gone.
    """

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

    def __exit__(self, *_: object) -> None:
        if _innermost() is self:
            super().__exit__(None, None, None)


def _innermost() -> TorchFunctionMode | None:
    modes = torch.overrides._get_current_function_mode_stack()
    return modes[-1] if modes else None


@contextmanager
def drawing_nothing() -> Iterator[None]:
    """Run a block of `isolated` that needs no random numbers without looking for them: a tenth faster."""
    draws = _innermost()
    if not isinstance(draws, _Draws):
        yield
        return
    draws.__exit__(None, None, None)
    try:
        yield
    finally:
        draws.__enter__()


@contextmanager
def drawing_in_python(seed: int) -> Iterator[None]:
    """Run the block with the generators of Python and NumPy seeded, then put back."""
    with (
        _putting_back(random.getstate, random.setstate),
        _putting_back(np.random.get_state, np.random.set_state),
    ):
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        yield


@contextmanager
def _putting_back(get: Callable[[], T], put: Callable[[T], object]) -> Iterator[None]:
    """Put back what the block changes, though an interrupt comes into that."""
    state = get()
    try:
        try:
            yield
        finally:
            put(state)
    finally:
        put(state)
