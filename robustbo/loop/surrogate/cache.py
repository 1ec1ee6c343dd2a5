"""The last fits, kept by whoever looks at one history again and again: an optimizer has one, and passes it on."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

FITS = 4  # of hundreds of observations, each takes megabytes
SMALL = 32  # what is small is kept longer: where searches begin, and where trials fail
DEAR = 8  # of that what was made from nothing, and is asked for again a hundred observations later


class FitCache:
    """Fits by what they follow from; those used least recently are forgotten.

    A fit is a function of its key, so keeping it changes nothing but the time: no two threads fit to the same, since
    fits wait for each other (`determinism.surroundings.pin_surroundings`). A copy, or one that was pickled, is empty.

    Args:
        size: How many fits are kept.
        small: How many of what is small.
        dear: How many of what is small and dear.

    Attributes:
        misses: How many of all were made.
    """

    def __init__(self, size: int = FITS, small: int = SMALL, dear: int = DEAR) -> None:
        self._sizes = size, small, dear
        self._fits, self._small, self._dear = (OrderedDict[Hashable, Any]() for _ in self._sizes)
        self._parts: dict[str, FitCache] = {}
        self.misses = 0

    def __len__(self) -> int:
        return len(self._fits)

    def __reduce__(self) -> tuple[type["FitCache"], tuple[int, int, int]]:
        return FitCache, self._sizes

    def of(self, name: str) -> "FitCache":
        """The fits of one of several outcomes."""
        return self._parts.setdefault(name, FitCache(*self._sizes))

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The fit that is kept under a key, or else is made; an error in that is nobody's to keep."""
        return self._get(self._fits, self._sizes[0], key, make)

    def get_small(self, key: Hashable, make: Callable[[], T]) -> T:
        """The small thing that is kept under a key, or else is made."""
        return self._get(self._small, self._sizes[1], key, make)

    def get_dear(self, key: Hashable, make: Callable[[], T]) -> T:
        """The small and dear thing that is kept under a key, or else is made."""
        return self._get(self._dear, self._sizes[2], key, make)

    def _get(self, store: OrderedDict[Hashable, Any], size: int, key: Hashable, make: Callable[[], T]) -> T:
        if key in store:
            store.move_to_end(key)
        else:
            self.misses += 1
            store[key] = make()
            while len(store) > size:
                store.popitem(last=False)
        return store[key]

    def clear(self) -> None:
        """Forget all."""
        self._fits.clear()
        self._small.clear()
        self._dear.clear()
        self._parts.clear()
