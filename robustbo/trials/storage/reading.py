"""The contents of a journal's bytes: its header, its events, and the place of the first damaged line."""

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from robustbo import limits
from robustbo.errors import JournalError, JournalMissing, JournalWarning, warn
from robustbo.foreign import reading
from robustbo.foreign.reading import open_regular
from robustbo.trials.storage.groups import Place, num_unfinished, place_in, strip_group
from robustbo.trials.storage.line import SCHEMA, json_object, parse
from robustbo.trials.storage.log import Mark
from robustbo.validation import nearest

WRITE_S = 0.05  # more than a line takes to be written
REMEDY = "`robustbo repair {}` writes what can be proven into a new one"
TELL_AGAIN = "if you can read a value in it, tell it again"
PASSED_OVER = f"passed over (the next ask or tell cuts it off); {TELL_AGAIN}"
CUT_OFF = f"cut off; {TELL_AGAIN}"
BEGINNING = b'{"schema"'


class Contents(NamedTuple):
    """The contents of a journal: header, events, the mark behind them, and the rest of a write that never finished."""

    header: dict[str, Any]
    events: list[dict[str, Any]]
    mark: Mark
    torn: bytes


def read(path: str | os.PathLike[str]) -> Contents:
    """Read a journal without touching it.

    Raises:
        JournalError: If there is no such file, it is no journal, or a line is damaged; the message has the line's
            number.
    """
    path = Path(path)
    contents = contents_of(path, bytes_of(path))
    if contents.torn:  # or half written at this moment
        time.sleep(WRITE_S)
        contents = contents_of(path, bytes_of(path))
    return contents


def is_journal(path: Path) -> bool:
    """Return whether a file begins as a journal does.

    Raises:
        OSError: If it cannot be read.
    """
    with open(path, "rb", opener=open_regular) as file:
        return file.read(len(BEGINNING)) == BEGINNING


def bytes_of(path: Path) -> bytes:
    """All bytes of a journal, or what might be one.

    Raises:
        JournalError: If there is no such file, or it cannot be read.
    """
    try:
        return reading.bytes_of(path, limits.JOURNAL_BYTES, JournalError)
    except (FileNotFoundError, NotADirectoryError):
        raise no_journal(path) from None


def no_journal(path: str | os.PathLike[str]) -> JournalMissing:
    """The error to raise where there is no journal: it has the name of the one beside it that was meant."""
    if os.path.islink(path):
        must = "must be a journal, is a link to what is not there"
        return JournalMissing(f"{path}: {must}, {os.readlink(path)}; put that back, or name the journal itself")
    if files := [folder for folder in Path(path).parents if folder.is_file()]:
        return JournalMissing(f"{path}: must be in a folder, and {files[0]} is a file; name another place")
    beside = {file.stem: str(file) for file in Path(path).parent.glob("*.jsonl")}
    return JournalMissing(f"{path}: there is no such journal{nearest(Path(path).stem, beside, beside.__getitem__)}")


def contents_of(path: Path, data: bytes) -> Contents:
    """The contents of a journal's bytes; see `read`."""
    if not data:
        raise JournalError(
            f"{path}: is empty, but a journal begins with a header; restore it from a copy, or delete it to begin anew"
        )
    if not data.startswith(BEGINNING) and b'"check": "' not in data:
        raise JournalError(f"{path}: is not a journal of robustbo; a journal begins with {BEGINNING.decode()}: 1, ...")
    lines, mark, torn = follow(path, data, Mark(length=-1))
    if (schema := lines[0].get("schema")) != SCHEMA:
        raise JournalError(f"{path}, line 1: must be a header of schema {SCHEMA}, got {schema!r}; use a newer robustbo")
    return Contents(lines[0], lines[1:], mark, torn)


def follow(path: Path, data: bytes, mark: Mark) -> tuple[list[dict[str, Any]], Mark, bytes]:
    """The lines that follow a mark, the mark behind them, and what is torn: a line, or the beginning of a group."""
    *lines, tail = data.split(b"\n")
    while lines and not (tail.strip() or lines[-1].strip()):  # an editor leaves blank lines at the end
        tail = lines.pop()
    tail = tail if tail.strip() else b""
    events: list[dict[str, Any]] = []
    marks, places = [mark], list[Place]()
    for number, line in enumerate([*lines, tail] if tail else lines, start=1):
        count, check, end, _, _ = marks[-1]
        parsed = parse(line, check)
        if parsed is None and number > len(lines) and count >= 0 and json_object(line) is None:
            break  # a whole object with a wrong checksum is damage instead
        if parsed is None:
            raise JournalError(
                f"{path}, line {count + 2}: damaged (checksum or syntax); the file is left as it is; "
                + REMEDY.format(path)
            )
        content, check = parsed
        places.append(place_in(content))
        events.append(strip_group(content))
        marks.append(Mark(count + 1, check, end + len(line) + (number <= len(lines)), number > len(lines)))
    num_whole = len(events) - num_unfinished(places)
    last = marks[num_whole]
    is_torn = last.end < mark.end + len(data.rstrip())
    return events[:num_whole], last, data[last.end - mark.end :] if is_torn else b""


def warn_loss(name: object, torn: bytes, action: str = PASSED_OVER) -> None:
    """Say what a torn last line loses, or the lines of a call that are not all there, and what is done with it."""
    if torn:
        shown = torn[:200].decode(errors="replace")
        message = (
            f"{name}: {_damage_text(torn)}, {len(torn)} bytes whose write never finished, and was {action}: {shown!r}"
        )
        warn(message, JournalWarning)


def _damage_text(torn: bytes) -> str:
    first, *rest = torn.split(b"\n")
    place = place_in(json_object(first) or {})
    if place is None:
        return "the last line is torn"
    num_present = 1 + sum(json_object(line) is not None for line in rest)
    return f"the last call is torn: of its {place[1]} events only {num_present} are there, and none counts; repeat it"
