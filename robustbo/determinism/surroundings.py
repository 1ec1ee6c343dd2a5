"""Settings of the process and the thread that numbers depend on: a computation has its own, and puts back the rest."""

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import gpytorch
import linear_operator
import numpy as np
import torch

from robustbo.determinism.generator import generators, leave_to
from robustbo.determinism.interrupted import release_on_interrupt
from robustbo.determinism.threads import on_one_thread

P = ParamSpec("P")
T = TypeVar("T")

_one_at_a_time = threading.RLock()
_before: "_Surroundings | None" = None  # the outermost call that runs


def pin_surroundings(function: Callable[P, T]) -> Callable[P, T]:
    """A function that runs with the settings that numbers depend on as the libraries have them by default.

    These are torch's default device, its gradient and inference modes, what NumPy does of an overflow, one thread
    (`threads.on_one_thread`), and GPyTorch's settings. Whatever a caller has set is as before when it returns, wherever
    an interrupt has come in between: also what `isolation` changes within. Calls nest; those of several threads wait
    for each other.

    Torch's default type is the process's, and stays as it is: tensors and modules are given their type where they are
    made. GPyTorch's settings are the process's too. They are put to their defaults meanwhile where somebody has set
    them, since its own code reads them; other threads that use GPyTorch then see the defaults.

    Example:
        >>> is_recording = pin_surroundings(torch.is_grad_enabled)
        >>> with torch.no_grad():
        ...     is_recording()
        True
    """
    inner = on_one_thread(release_on_interrupt(function))

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        global _before
        with _one_at_a_time:
            before, outer = _Surroundings.now(), _before
            _before = before if outer is None else outer
            try:
                try:
                    with default_surroundings(), nullcontext() if outer else _gpytorch_defaults():
                        return inner(*args, **kwargs)
                except BaseException as error:
                    before.restore_after(error)
                    raise
            except BaseException as error:  # a second interrupt, or the first
                before.restore_after(error)
                raise
            finally:
                _before = outer

    return call


class _Surroundings(NamedTuple):
    """State of the process and the thread that computations change, as it was before one."""

    device: torch.device
    is_grad_enabled: bool
    generators: int
    errors: dict[str, Any]
    filters: list[Any]

    @classmethod
    def now(cls) -> "_Surroundings":
        return cls(
            torch.get_default_device(),
            torch.is_grad_enabled(),
            len(generators()),
            dict(np.geterr()),
            warnings.filters,  # type: ignore[arg-type] # a list, whatever stubs say
        )

    def restore_after(self, error: BaseException) -> None:
        """Put all back where an interrupt may have kept the blocks that changed it from doing so."""
        if not isinstance(error, Exception):
            self.restore()

    def restore(self) -> None:
        leave_to(self.generators)
        if torch.get_default_device() != self.device:
            torch.set_default_device(self.device)
        torch.set_grad_enabled(self.is_grad_enabled)
        np.seterr(**self.errors)
        if warnings.filters is not self.filters:
            warnings.filters = self.filters
            with warnings.catch_warnings():  # which lets go of what had been remembered of the others
                pass


@contextmanager
def default_surroundings() -> Iterator[None]:
    """Run the block as `pin_surroundings` does a function, within one."""
    with _one_at_a_time, np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        if _is_default():
            yield
            return
        is_on_cpu = torch.get_default_device().type == "cpu"
        on_cpu = nullcontext() if is_on_cpu else torch.device("cpu")  # which costs time in each operation
        with torch.inference_mode(False), torch.enable_grad(), on_cpu:
            yield


def _settings() -> dict[Any, tuple[Any, ...]]:
    """GPyTorch's settings, each with what it is made of."""
    states: dict[Any, tuple[Any, ...]] = {}
    cls: Any
    modules = gpytorch.settings, linear_operator.settings
    for cls in {setting for module in modules for setting in vars(module).values() if isinstance(setting, type)}:
        if hasattr(cls, "_state"):
            states[cls] = (cls._state,)  # None where nobody has set it, which is not the same as set to the default
        elif hasattr(cls, "_global_value"):
            states[cls] = (cls.value(),)
        elif hasattr(cls, "value"):
            states[cls] = tuple(cls.value(dtype) for dtype in (torch.float32, torch.float64, torch.float16))
    return states


AT_FIRST = _settings()  # before anybody could change them


@contextmanager
def _gpytorch_defaults() -> Iterator[None]:
    now = _settings()
    with ExitStack() as stack:
        for cls, state in AT_FIRST.items():
            if now[cls] != state:
                stack.enter_context(_flag(cls, *state) if hasattr(cls, "_state") else cls(*state))
        yield


@contextmanager
def _flag(cls: Any, state: bool | None) -> Iterator[None]:
    """Run the block with a flag as it was at first, set or not."""
    before, cls._state = cls._state, state
    try:
        yield
    finally:
        cls._state = before


def _is_default() -> bool:
    is_plain = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return is_plain and torch.get_default_device().type == "cpu"


def _renew_after_fork() -> None:
    """Another thread of the parent's may have been within a call, and is not there any more to end it."""
    global _one_at_a_time, _before
    _one_at_a_time = threading.RLock()
    if _before is not None:
        _before.restore()
        _before = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
