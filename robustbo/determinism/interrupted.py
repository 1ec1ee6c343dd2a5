"""Calls that are interrupted, and what they hold: Python may raise KeyboardInterrupt between any two instructions."""

import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def let_go(error: BaseException | None, outer: BaseException | None = None) -> None:
    """Let go of all that the interrupted calls of an error still hold: files, and the locks on them.

    A context that is interrupted while it is being left is left only when nothing refers to it any more; the error's
    traceback does, and somebody may keep that, as notebooks do.

    Args:
        error: The error, and those that it came out of.
        outer: One of those that is somebody else's, as all before it are.
    """
    for each in _context(error, outer):
        traceback.clear_frames(each.__traceback__)


def letting_go(function: Callable[P, T]) -> Callable[P, T]:
    """A function that lets go of all that its calls hold where it is interrupted, and says so by nothing else."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        outer = sys.exc_info()[1]
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if not _interrupts(error, outer):  # kept by no name: their tracebacks hold this frame
                raise
            let_go(error, outer)
            if isinstance(error, Exception):  # which a library has made of it
                raise _interrupts(error, outer)[0] from None
            raise

    return called


def _interrupts(error: BaseException, outer: BaseException | None) -> list[BaseException]:
    return [each for each in _context(error, outer) if not isinstance(each, Exception)]


def _context(error: BaseException | None, outer: BaseException | None) -> list[BaseException]:
    """An error and those that it came out of, up to one."""
    found: list[BaseException] = []
    while error is not None and error is not outer and error not in found:
        found.append(error)
        error = error.__context__
    return found
