"""The interface of an ordered list of events: lines with a chained checksum, that several may append to.

A log has no memory of its own: whoever uses it keeps a `Mark` of how far they have read, and reads on from there. So an
interrupted call leaves nothing that must be put right, and the next one finds what it wrote.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple, Protocol

from robustbo.trials.storage.line import Event


class Mark(NamedTuple):
    """A place in a log: behind so many events.

    Attributes:
        length: How many events come before.
        check: The checksum of the last line before.
        end: The byte behind it, in a file.
        is_open: Whether that line still lacks its newline, in a file.
        stamp: When the file was last changed, in nanoseconds; None where that is not known.
    """

    length: int = 0
    check: int = 0
    end: int = 0
    is_open: bool = False
    stamp: int | None = None


class Conflict(Exception):
    """Somebody else has appended in between: read on, and try again."""


class Turn(Protocol):
    """A log while nobody else appends to it."""

    def behind(self, mark: Mark) -> tuple[list[Event], Mark]:
        """The events behind a mark, and the mark behind them.

        Raises:
            JournalError: If what was before the mark is not there any more, as far as that is noticed.
        """

    def append(self, events: Sequence[Event], mark: Mark) -> Mark:
        """Write events behind a mark, all or none; they are kept when this returns.

        Raises:
            Conflict: If there are others behind the mark already.
        """


class Log(Protocol):
    """An ordered list of events behind a header."""

    @property
    def name(self) -> str:
        """The place of the log, for messages."""

    def has_grown(self, mark: Mark) -> bool:
        """Return whether there is more behind a mark, or may be something else before it."""

    def turn(self) -> AbstractContextManager[Turn]:
        """Keep others from appending."""

    def decision_lock(self) -> AbstractContextManager[object]:
        """Keep others from deciding on a next point, where that is possible; appending goes on meanwhile."""


class Memory:
    """The log of an optimization without a journal: events go nowhere."""

    name = "an optimization without a journal"

    def has_grown(self, mark: Mark) -> bool:
        """Never: nobody else knows it."""
        return False

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Itself."""
        yield self

    def decision_lock(self) -> AbstractContextManager[object]:
        """Return at once: nobody else decides."""
        return nullcontext()

    def behind(self, mark: Mark) -> tuple[list[Event], Mark]:
        """No event."""
        return [], mark

    def append(self, events: Sequence[Event], mark: Mark) -> Mark:
        """Count them."""
        return mark._replace(length=mark.length + len(events))
