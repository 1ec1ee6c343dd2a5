"""The journal: an append-only file of JSON objects, one a line, that survives a power cut.

The first line is a header, each further line an event. Every line ends with a checksum chained to the line before, so a
changed, lost or moved line is found and named. A line is on the disk before `append` returns; what a power cut can
leave is a part of the last line, whose event nobody had been told was kept.
"""

import json
import os
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from robustbo.errors import JournalError, JournalWarning

SCHEMA = 1


class Contents(NamedTuple):
    """What a journal holds: header, events, and where its sound part ends."""

    header: dict[str, Any]
    events: list[dict[str, Any]]
    end: int  # bytes
    check: int  # checksum of the last line
    torn: bytes  # what follows the sound part


def _line(content: Mapping[str, Any], check: int) -> tuple[bytes, int]:
    text = json.dumps(content, allow_nan=False)
    check = zlib.crc32(text.encode(), check)
    return f'{text[:-1]}, "check": "{check:08x}"}}\n'.encode(), check


def _parse(line: bytes, check: int) -> tuple[dict[str, Any], int] | None:
    """The content of a line and its checksum; None if it is not the line that was written."""
    try:
        content = json.loads(line)
        content.pop("check")
        written, check = _line(content, check)
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    return (content, check) if written == line + b"\n" else None


def read(path: Path) -> Contents:
    """Read a journal without touching it.

    Raises:
        JournalError: If there is no such file, or a line is damaged; the message has the line's number.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise JournalError(f"{path}: there is no such journal") from None
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror}") from None
    *lines, tail = data.split(b"\n")
    contents: list[dict[str, Any]] = []
    check, end, torn = 0, 0, b""
    for number, line in enumerate([*lines, tail] if tail else lines, start=1):
        parsed = _parse(line, check)
        if parsed is None and number > len(lines) >= 1 and not line.endswith(b"}"):
            torn = tail  # a write that was cut off; a whole object with a wrong checksum is damage instead
            break
        if parsed is None:
            raise JournalError(f"{path}, line {number}: damaged (checksum or syntax); the file is left as it is")
        content, check = parsed
        contents.append(content)
        end += len(line) + (number <= len(lines))
    if not contents or contents[0].get("schema") != SCHEMA:
        found = contents[0].get("schema") if contents else "an empty file"
        raise JournalError(f"{path}, line 1: must be a header of schema {SCHEMA}, got {found!r}; begin a new journal")
    return Contents(contents[0], contents[1:], end, check, torn)


def warn_of_torn(path: Path, contents: Contents) -> None:
    """Say what a torn last line loses, if there is one."""
    if contents.torn:
        shown = contents.torn[:200].decode(errors="replace")
        warnings.warn(
            f"{path}: dropped the torn last line, {len(contents.torn)} bytes whose write never finished: {shown!r}",
            JournalWarning,
            stacklevel=3,
        )


class Journal:
    """A journal open for appending; make one with `create` or `resume`."""

    def __init__(self, path: Path, end: int, check: int) -> None:
        self.path = Path(path)
        self._end = end
        self._check = check
        self._lock = _lock(self.path)

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> "Journal":
        """Begin a journal.

        Raises:
            JournalError: If the file exists.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        line, check = _line({"schema": SCHEMA, **header}, 0)
        journal = cls(path, len(line), check)
        with journal._lock:
            if path.exists():
                raise JournalError(f"{path}: exists; resume it, or name a new file")
            new = path.with_name(path.name + ".new")  # renamed when whole: a journal never lacks its header
            with new.open("wb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        _sync_folder(path.parent)
        return journal

    @classmethod
    def resume(cls, path: Path) -> tuple["Journal", Contents]:
        """Open a journal to append to it; a torn last line is dropped with a warning that shows it.

        Raises:
            JournalError: If it cannot be read; it is left as it is then.
        """
        path = Path(path)
        if not path.exists():
            raise JournalError(f"{path}: there is no such journal")
        with _lock(path):
            contents = read(path)
            warn_of_torn(path, contents)
            with path.open("r+b", buffering=0) as file:
                file.seek(contents.end - 1)
                newline = b"" if file.read(1) == b"\n" else b"\n"  # a whole line that lost only its newline is kept
                file.truncate(contents.end)
                file.write(newline)
                os.fsync(file.fileno())
        return cls(path, contents.end + len(newline), contents.check), contents

    def append(self, event: Mapping[str, Any]) -> None:
        """Write one event; it is on the disk when this returns.

        Raises:
            JournalError: If somebody else has written to the file since it was opened.
        """
        line, check = _line(event, self._check)
        with self._lock, self.path.open("ab", buffering=0) as file:
            if file.tell() != self._end:
                raise JournalError(
                    f"{self.path}: must have {self._end} bytes as this process left it, has {file.tell()}; "
                    "another process writes to it: resume it anew, and use one process a journal"
                )
            try:
                rest = line
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:  # leave no half line behind
                file.truncate(self._end)
                raise
        self._end, self._check = self._end + len(line), check


def _lock(path: Path) -> FileLock:
    """One lock a folder: held for the milliseconds of a write."""
    return FileLock(path.parent / ".robustbo.lock")


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut too (where folders can be synced: not on Windows)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
