"""Ctrl-C that comes when it may: let in at certain places, held back elsewhere, and never lost.

Python raises KeyboardInterrupt between any two instructions, so a value can be lost just before it is written down. And
it loses one that is raised while an object is being deleted, or that somebody's code catches.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

PRESSES = 3  # that are let in anywhere: what holds them back may hang


class Interrupts:
    """Block in which KeyboardInterrupt is raised only where it is let in, and at the end.

    Only in the main thread, and where Ctrl-C has not been given another meaning; elsewhere all stays as it is. A block
    within another's hands on, at its end, what it has heard: that raises it where it is let in. Python says nothing of
    one that it or a library has lost in the block: it is raised at the end.

    Example:
        >>> with Interrupts() as interrupts:
        ...     with interrupts.let_in():
        ...         done = sum(range(3))
        >>> done
        3
    """

    def __init__(self) -> None:
        self._presses, self._is_let_in = 0, False
        self._before: Any = None
        self._unraisablehook: Any = None

    def __enter__(self) -> "Interrupts":
        before = signal.getsignal(signal.SIGINT)
        is_ours = isinstance(getattr(before, "__self__", None), Interrupts)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and (is_ours or before is signal.default_int_handler):
            self._before, self._unraisablehook = before, sys.unraisablehook
            signal.signal(signal.SIGINT, self._hear)
            sys.unraisablehook = self._hear_unraisable
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._before is not None and signal.getsignal(signal.SIGINT) == self._hear:
            if sys.unraisablehook == self._hear_unraisable:
                sys.unraisablehook = self._unraisablehook
            signal.signal(signal.SIGINT, self._before)
        if kind is None and self.is_heard:
            self._before(signal.SIGINT, None)

    def _hear_unraisable(self, unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._unraisablehook(unraisable)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._presses += 1
        if self._is_let_in or self._presses >= PRESSES:
            raise KeyboardInterrupt

    @property
    def is_heard(self) -> bool:
        """Return whether an interrupt has come."""
        return self._presses > 0

    def check(self) -> None:
        """Raise the interrupt that has come."""
        if self.is_heard:
            raise KeyboardInterrupt

    @contextmanager
    def let_in(self) -> Iterator[None]:
        """Let interrupts in while the block runs."""
        try:
            self._is_let_in = True
            self.check()
            yield
        finally:
            self.hold_back()

    def hold_back(self) -> None:
        """Let no interrupt in any more."""
        self._is_let_in = False
