"""The place of a log: a file, or the address of a database, which is shown without its password."""

import os
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from robustbo.errors import JournalError
from robustbo.trials.storage.journal_file import JournalFile
from robustbo.trials.storage.log import Log, Mark
from robustbo.trials.storage.passwords import hide_passwords, is_mistyped
from robustbo.trials.storage.reading import Contents, read

Place = str | os.PathLike[str]


def is_address(place: Place) -> bool:
    """Return whether a place names a database: ``dialect+driver://...``.

    Raises:
        JournalError: If it is an address that was typed wrongly.
        TypeError: If it is no text and no path.

    Example:
        >>> is_address("sqlite:///lab.db"), is_address("runs/lab.jsonl")
        (True, False)
    """
    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise TypeError(f"journal must be a file or the address of a database, got {place!r}")
    text = os.fspath(place)
    if "://" not in text and is_mistyped(text):
        raise JournalError(
            f"a database's address must be like postgresql://user:password@host/database#study, got "
            f"{hide_passwords(text)!r}; write it in this form, or put ./ before it if it is a file"
        )
    return "://" in text


def check_file(place: Place) -> None:
    """Raise a `JournalError` for an address in place of a file."""
    if is_address(place):
        raise JournalError(f"{hide_passwords(os.fspath(place))!r} must be a file, is a database's address; name a file")


def display_name(place: Place) -> str:
    """A log's place for messages: without the password of a database.

    Raises:
        JournalError: If it is no address, or SQLAlchemy is missing.

    Example:
        >>> display_name("runs/lab.jsonl")
        'runs/lab.jsonl'
    """
    return _database().display_name(os.fspath(place)) if is_address(place) else os.fspath(place)


def create(place: Place, header: Mapping[str, Any]) -> tuple[Log, Mark]:
    """Begin a log.

    Raises:
        FileExistsError: If there is one.
        JournalWriteError: If it cannot be written.
    """
    if is_address(place):
        return _database().create(os.fspath(place), header)
    return JournalFile.create(os.path.expanduser(place), header)


def resume(place: Place, *, is_watched: bool = False) -> tuple[Log, Contents]:
    """A log to append to, or only to watch, and what is in it.

    Raises:
        JournalError: If it cannot be read.
    """
    if is_address(place):
        return _database().resume(os.fspath(place), is_watched=is_watched)
    return JournalFile.resume(os.path.expanduser(place), is_watched=is_watched)


def contents(place: Place) -> Contents:
    """The contents of a log, which is left as it is.

    Raises:
        JournalError: If it cannot be read.
    """
    if is_address(place):
        return _database().resume(os.fspath(place), is_watched=True)[1]
    return read(os.path.expanduser(place))


def _database() -> ModuleType:
    """Imported late, since SQLAlchemy is optional."""
    try:
        from robustbo.trials.storage import database
    except ModuleNotFoundError as error:
        raise JournalError(
            f"a journal in a database needs {error.name}; pip install 'robustbo[database]', or name a file"
        ) from None
    return database
