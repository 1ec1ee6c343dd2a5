"""The last fits, kept by whoever looks at one history again and again: an optimizer has one, and passes it on."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from robustbo.loop.warm_start import COLD_EVERY

T = TypeVar("T")


class FitCache:
    """Fits by what they follow from; those used least recently are forgotten.

    A fit is a function of its key, so keeping it changes nothing but the time: no two threads fit to the same, since
    fits wait for each other (`determinism.surroundings.pinned`). A copy, or one that was pickled, is empty.

    Args:
        size: How many are kept. Unless given, as many as there are between two that begin from nothing, of two kinds:
            the surrogate, and where trials fail.

    Attributes:
        misses: How many were made.
    """

    def __init__(self, size: int = 2 * (COLD_EVERY + 1)) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self.misses = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __reduce__(self) -> tuple[type["FitCache"], tuple[int]]:
        return FitCache, (self._size,)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key, or else is made; an error in that is nobody's to keep."""
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self.misses += 1
            self._kept[key] = make()
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return self._kept[key]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
