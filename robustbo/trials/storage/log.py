"""What an ordered list of events is, wherever it is kept: lines with a chained checksum, that several may append to.

A log has no memory of its own: whoever uses it keeps a `Mark` of how far they have read, and reads on from there. So an
interrupted call leaves nothing that must be put right, and the next one finds what it wrote.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

from pydantic_core import from_json

SCHEMA = 1
CHECK = len(', "check": "00000000"}')  # bytes at the end of a line that its checksum takes

Event = Mapping[str, Any]


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


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)


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
        """Where it is, for messages."""

    def has_grown(self, mark: Mark) -> bool:
        """Whether there is more behind a mark, or may be something else before it."""

    def turn(self) -> AbstractContextManager[Turn]:
        """Keep others from appending."""

    def deciding(self) -> AbstractContextManager[object]:
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

    def deciding(self) -> AbstractContextManager[object]:
        """Nothing to keep anybody from."""
        return nullcontext()

    def behind(self, mark: Mark) -> tuple[list[Event], Mark]:
        """Nothing."""
        return [], mark

    def append(self, events: Sequence[Event], mark: Mark) -> Mark:
        """Count them."""
        return mark._replace(length=mark.length + len(events))


def header_line(header: Mapping[str, Any]) -> tuple[str, int]:
    """The first line of a log, and its checksum."""
    return line_of({"schema": SCHEMA, **header}, 0)


def line_of(content: Event, check: int) -> tuple[str, int]:
    """A line (without its end) behind one with some checksum, and its own.

    Raises:
        ValueError: If the content is no JSON.
    """
    text = json.dumps(content, allow_nan=False)
    check = zlib.crc32(text.encode(), check)
    return f'{text[:-1]}, "check": "{check:08x}"}}', check


def lines_of(events: Iterable[Event], check: int) -> tuple[list[str], int]:
    """The lines of events, each chained to the one before, and the last one's checksum."""
    lines = []
    for event in events:
        line, check = line_of(event, check)
        lines.append(line)
    return lines, check


def parse(line: bytes, check: int) -> tuple[dict[str, Any], int] | None:
    """The content of a line behind one with some checksum, and its own; None if it is not the line that was written."""
    text, written = line[:-CHECK] + b"}", line[-CHECK:]
    check = zlib.crc32(text, check)
    if written != f', "check": "{check:08x}"}}'.encode() or (content := loaded(text)) is None:
        return None
    return content, check


def loaded(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, whatever its checksum; None if there is none."""
    try:
        content = from_json(line, allow_inf_nan=False)  # a tenth of the time of Python's own
    except ValueError:  # which takes half a character, too
        try:
            content = DECODER.decode(line.decode())
        except (ValueError, RecursionError):
            return None
    return content if isinstance(content, dict) else None
