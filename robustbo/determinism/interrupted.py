"""Calls that are interrupted, and what they hold: Python may raise KeyboardInterrupt between any two instructions."""

import sys
import traceback
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def release_frames(error: BaseException | None, outer: BaseException | None = None) -> None:
    """Release all that the interrupted calls of an error still hold: files, and the locks on them.

    A context that is interrupted while it is being left is left only when nothing refers to it any more; the error's
    traceback does, and somebody may keep that, as notebooks do.

    Args:
        error: The error, and those that it came out of.
        outer: One of those that is somebody else's, as all before it are.
    """
    for cause in _context(error, outer):
        traceback.clear_frames(cause.__traceback__)


class Released:
    """Block that releases all that its calls hold where it is interrupted, and is otherwise as without."""

    def __enter__(self) -> None:
        self._outer = sys.exc_info()[1]

    def __exit__(self, _: Any, error: BaseException | None, traceback_: TracebackType | None) -> None:
        if error is None or not _interrupts(error, self._outer):
            return
        release_frames(error, self._outer)
        if isinstance(error, Exception):  # which a library has made of it
            try:
                raise _interrupts(error, self._outer)[0] from None
            finally:
                del error, traceback_  # kept by no name: the new traceback holds this frame


def release_on_interrupt(function: Callable[P, T]) -> Callable[P, T]:
    """A function that releases all that its calls hold where it is interrupted, and is otherwise the same."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with Released():
            return function(*args, **kwargs)

    return call


def _interrupts(error: BaseException, outer: BaseException | None) -> list[BaseException]:
    return [cause for cause in _context(error, outer) if not isinstance(cause, Exception)]


def _context(error: BaseException | None, outer: BaseException | None) -> list[BaseException]:
    """An error and those that it came out of, up to one."""
    chain: list[BaseException] = []
    while error is not None and error is not outer and error not in chain:
        chain.append(error)
        error = error.__context__
    return chain
