"""Records: what is better than all before it."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def records(candidates: Iterable[T], worth: Callable[[T], float]) -> list[T]:
    """The candidates that are worth more than all before them; the first is one."""
    best: list[T] = []
    for candidate in candidates:
        if not best or worth(candidate) > worth(best[-1]):
            best.append(candidate)
    return best
