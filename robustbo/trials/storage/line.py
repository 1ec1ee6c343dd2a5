"""A line of a journal: one event as a JSON object, with a checksum that is chained to the line before.

The first line is the header. What an event of each kind must hold, `trials.schema` says; what it does,
`trials.events`.
"""

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic_core import from_json

SCHEMA = 1
CHECK = len(', "check": "00000000"}')  # bytes at the end of a line that its checksum takes

Event = Mapping[str, Any]


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)


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
    if written != f', "check": "{check:08x}"}}'.encode() or (content := json_object(text)) is None:
        return None
    return content, check


def json_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, whatever its checksum; None if there is none."""
    try:
        content = from_json(line, allow_inf_nan=False)  # a tenth of the time of Python's own
    except ValueError:  # which takes half a character, too
        try:
            content = DECODER.decode(line.decode())
        except (ValueError, RecursionError):
            return None
    return content if isinstance(content, dict) else None


def first_object(line: bytes, ends: Collection[int]) -> dict[str, Any] | None:
    """The JSON object that a line begins with, if it ends at one of these bytes; None if it does not.

    It reads the line once, however many ends there are.
    """
    text = line.decode(errors="surrogateescape")  # what follows the object may be anything
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        content, end = DECODER.raw_decode(text, start)
        length = len(text[:end].encode())
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and length in ends else None
