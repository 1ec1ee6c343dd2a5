"""The lines of a damaged journal, each with its checksum and the only one that it can follow."""

import json
import re
from typing import Any, NamedTuple

from robustbo.trials.storage.line import first_object, json_object, parse

CHECK = re.compile(rb'"check": "([0-9a-f]{8})"\}')
BEGINNING = re.compile(rb'(?=\{"(?:event|schema)": )')
BOM = b"\xef\xbb\xbf"


class JournalLine(NamedTuple):
    """A line of a damaged journal.

    Attributes:
        number: In the file, from 1.
        text: As it stands there.
        content: What it says, without its checksum; None if it cannot be read.
        check: Its checksum, where that can be read.
        before: The only checksum that it can follow; None unless both can be read.
    """

    number: int
    text: bytes
    content: dict[str, Any] | None
    check: int | None
    before: int | None

    @property
    def is_header(self) -> bool:
        """Return whether it begins a journal."""
        return self.content is not None and "schema" in self.content


def predecessor_check(text: bytes, check: int) -> int:
    """The checksum before: the only one that a text with some checksum can follow.

    Example:
        >>> import zlib
        >>> predecessor_check(b"any text", zlib.crc32(b"any text", 1234))
        1234
    """
    state = check ^ 0xFFFFFFFF
    for byte in reversed(text):
        index = _INDEX[state >> 24]
        state = ((state ^ _TABLE[index]) << 8 & 0xFFFFFFFF) | (index ^ byte)
    return state ^ 0xFFFFFFFF


def _table_entry(index: int) -> int:
    for _ in range(8):
        index = index >> 1 ^ (0xEDB88320 if index & 1 else 0)  # the polynomial of CRC-32, as zlib has it
    return index


_TABLE = [_table_entry(index) for index in range(256)]
_INDEX = {entry >> 24: index for index, entry in enumerate(_TABLE)}  # the first byte of an entry tells which it is


def lines_in(data: bytes) -> list[JournalLine]:
    """The lines of a journal that may be damaged; those that are empty are none."""
    lines: list[JournalLine] = []
    for number, text in enumerate(data.removeprefix(BOM).split(b"\n"), start=1):
        if not text.strip():
            continue
        pieces = (
            [text] if json_object(text) is not None else [piece for piece in BEGINNING.split(text) if piece.strip()]
        )
        for piece in pieces:
            check = lines[-1].check if lines else 0
            lines.append(_as_it_stands(number, piece, check) or _line(number, piece))
    return lines


def _as_it_stands(number: int, text: bytes, before: int | None) -> JournalLine | None:
    """A line that follows the one before it by its very text, as reading a journal has it; None for another."""
    if before is None or (parsed := parse(text, before)) is None:
        return None
    content, check = parsed
    try:
        canonical(content)
    except (ValueError, RecursionError):  # a number that is none
        return None
    return JournalLine(number, text, content, check, before)


def _line(number: int, text: bytes) -> JournalLine:
    ends = [*CHECK.finditer(text)]
    check = int(ends[-1][1], 16) if ends else None
    content = json_object(text)
    if content is None:  # something may follow that does not belong to it
        content = first_object(text, {end.end() for end in ends})
    if content is None:
        return JournalLine(number, text, None, check, None)
    written = content.pop("check", None)
    if isinstance(written, str) and re.fullmatch("[0-9a-f]{8}", written):
        check = int(written, 16)
    try:
        return JournalLine(
            number, text, content, check, None if check is None else predecessor_check(canonical(content), check)
        )
    except (ValueError, RecursionError):  # a number that is none
        return JournalLine(number, text, None, check, None)


def canonical(content: dict[str, Any]) -> bytes:
    """The text of which a line has the checksum."""
    return json.dumps(content, allow_nan=False).encode()
