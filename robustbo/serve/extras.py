"""Options of a server beside its study: other studies to compare it with, and a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from robustbo.report.page.comparison import NamedView
from robustbo.study.study import Study
from robustbo.trials.history import History

COMPARISON = "comparison"  # the name of what is computed of all studies
Histories = tuple[History, ...]


class Extras(NamedTuple):
    """Options of a server beside its study.

    Attributes:
        beside: Other studies, by the name that pages call them.
        budget: What all measurements may cost together; infinite unless given.
    """

    beside: Sequence[tuple[str, Study]] = ()
    budget: float = math.inf

    def with_own(self, own: History, *, is_looking: bool = True) -> Histories:
        """The history of the served study, and behind it those of the others.

        Args:
            own: The first one.
            is_looking: Whether to look at what others have written meanwhile.
        """
        return (own, *(study.history if is_looking else study._store.state.history for _, study in self.beside))

    def views(self) -> list[NamedView]:
        """The other studies as they are now."""
        return [NamedView(name, study.view) for name, study in self.beside]


def are_same(first: Histories, second: Histories) -> bool:
    """Return whether nothing has been recorded between two looks."""
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


NOTHING = Extras()
