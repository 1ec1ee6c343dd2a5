"""A generator of random numbers that torch draws from in one thread, wherever none is named."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

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
DIVIDING = {torch.div, torch.true_divide, torch.Tensor.div, torch.Tensor.true_divide, torch.Tensor.__truediv__}

_this_thread = threading.local()  # ``generators``: those that it is within a block of, the innermost last


class OwnGenerator(TorchFunctionMode):
    """Mode in whose block torch draws, in this thread alone, from a generator that is seeded here.

    Whole numbers are divided (by ``/`` and `torch.div`) in float32, whatever torch's default type:
    `torch.quasirandom.SobolEngine` has its first point from that, so that what is drawn depends on the seed alone.

    Args:
        seed: In [0, 2^63).
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator(device="cpu").manual_seed(seed)
        self._is_asked = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in DRAWING:
            self._is_asked = True
            kwargs = kwargs or {}
            if kwargs.get("generator") is None:
                if func in LIKE:  # which take one in newer torch alone
                    like, *rest = args
                    func, args = LIKE[func], (*rest, like.shape)
                    kwargs = {"dtype": like.dtype, "device": like.device, **kwargs}
                kwargs = {**kwargs, "generator": self._generator}
        elif func in DIVIDING and not kwargs and all(map(_is_whole, args)):
            args = args[0].to(torch.float32), *args[1:]
        return func(*args, **kwargs) if kwargs else func(*args)

    def __enter__(self) -> Self:
        generators().append(self)
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self.leave()
        if self in generators():
            generators().remove(self)

    def leave(self) -> bool:
        """Put torch's own generator back; return whether this one was in its place.

        torch takes a mode off its stack while it asks that mode: an interrupt may find it gone, and another there.
        """
        is_in_place = self._is_innermost()
        if is_in_place:
            super().__exit__(None, None, None)
        return is_in_place

    def enter_again(self) -> None:
        """Undo `leave`, unless the block has ended: an interrupt may keep a block within it from ending before."""
        if self in generators():
            super().__enter__()

    def _is_innermost(self) -> bool:
        self._is_asked = False
        torch.rand(0, generator=self._generator, device="cpu")  # no number: the generator stays as it is
        return self._is_asked


def _is_whole(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return not operand.is_floating_point() and not operand.is_complex()
    return isinstance(operand, int)


def generators() -> list[OwnGenerator]:
    """Generators that this thread is within a block of, the innermost last."""
    return _this_thread.__dict__.setdefault("generators", [])


def leave_to(depth: int) -> None:
    """Leave the blocks that an interrupt has kept from ending, until the thread is within so many."""
    while len(generators()) > depth:
        generators()[-1].__exit__()


@contextmanager
def no_draws() -> Iterator[None]:
    """Run a block that draws nothing without looking at each operation for that: a tenth faster."""
    innermost = generators()[-1:]
    left = [generator for generator in innermost if generator.leave()]
    try:
        yield
    finally:
        for generator in left:
            generator.enter_again()
