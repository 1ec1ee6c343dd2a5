"""Output of the command line: results to stdout, all else to stderr; no text here can command a terminal."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any

import typer

from robustbo.errors import RobustBOError
from robustbo.printable import printable
from robustbo.trials.storage.passwords import hide_passwords

LONGEST = 2000  # letters of a line of a message


class Format(StrEnum):
    """The formats in which results are written to stdout."""

    table = "table"
    json = "json"
    csv = "csv"


class UnwrittenError(RobustBOError):
    """A result could not be written, all of it or a part."""


def lines(texts: Iterable[str]) -> None:
    """Lines of a result."""
    for line in texts:
        _write(f"{printable(line)}\n")


def clear(code: str) -> None:
    """Clear the screen, by an escape sequence of our own."""
    _write(code)


def objects(items: Iterable[Any]) -> None:
    """JSON, a line each."""
    for item in items:
        _write(f"{json.dumps(item)}\n")


def _shorten(line: str) -> str:
    """A line of a message, without the middle of what a file has of a hundred thousand letters."""
    half = LONGEST // 2
    shown = line if len(line) <= LONGEST else f"{line[:half]} ... ({len(line)} letters) ... {line[-half:]}"
    return printable(shown)


def log(message: str) -> None:
    """Print a message to stderr, of one or several lines, without any password that was typed."""
    with suppress(OSError):  # there is nobody left to tell
        typer.echo("\n".join(map(_shorten, hide_passwords(message).split("\n"))), err=True)


def rows(records: list[dict[str, Any]], format_: Format, title: str = "") -> None:
    """Rows of a result, all with the same keys."""
    from robustbo.report.summary.tables import render

    if format_ is not Format.json:  # which escapes by itself
        records = [
            {type(key)(printable(key)): printable(v) if isinstance(v, str) else v for key, v in row.items()}
            for row in records
        ]
    _write(render(records, format_.value, title))


@contextmanager
def still_true(recorded: str) -> Iterator[None]:
    """Say what has been recorded, where the result that has it cannot be written, to a reader that is gone either.

    Raises:
        UnwrittenError: Then.
    """
    try:
        yield
    except (UnwrittenError, BrokenPipeError) as error:
        _leave_unwritten()
        why = "the result cannot be written: its reader is gone" if isinstance(error, BrokenPipeError) else str(error)
        raise UnwrittenError(f"{why}; {recorded}") from None


def _write(text: str) -> None:
    """Write to stdout, at once.

    Raises:
        UnwrittenError: If that cannot be.
        BrokenPipeError: If whoever reads it has enough, which ends a command without a word.
    """
    if sys.stdout is None:
        raise UnwrittenError("the result cannot be written: stdout is closed")
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        _leave_unwritten()
        raise UnwrittenError(f"the result cannot be written: {error.strerror or error}") from None


def _leave_unwritten() -> None:
    """Let what waits to be written go nowhere, or Python would try again at its end, and say so in words of its own."""
    with suppress(AttributeError, OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
