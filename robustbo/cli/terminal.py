"""What the command line prints: results to stdout, all else to stderr; nothing here can command a terminal."""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import typer

from robustbo.trials.storage.passwords import hidden


class Format(StrEnum):
    """How results are written to stdout."""

    table = "table"
    json = "json"
    csv = "csv"


def escaped(text: str) -> str:
    r"""Text whose control characters can be seen: names come from files that others have written.

    Example:
        >>> print(escaped("\x1b[2J, \u202e, größe"))
        \x1b[2J, \u202e, größe
    """
    return "".join(
        c if c.isprintable() else ascii(c)[1:-1]  # which is also what cannot be encoded: half a pair of surrogates
        for c in text
    )


def lines(found: Iterable[str]) -> None:
    """Lines of a result."""
    for line in found:
        typer.echo(escaped(line))


def clear(code: str) -> None:
    """What commands a terminal after all: an escape sequence of our own."""
    typer.echo(code, nl=False)


def objects(found: Iterable[Any]) -> None:
    """JSON, a line each."""
    for each in found:
        typer.echo(json.dumps(each))


def log(message: str) -> None:
    """What is no result; it may have several lines, and no password in what was typed."""
    typer.echo("\n".join(map(escaped, hidden(message).split("\n"))), err=True)


def rows(found: list[dict[str, Any]], format_: Format, title: str = "") -> None:
    """Rows of a result, all with the same keys."""
    from robustbo.report.text import render

    if format_ is not Format.json:  # which escapes by itself
        found = [{escaped(key): escaped(v) if isinstance(v, str) else v for key, v in row.items()} for row in found]
    typer.echo(render(found, format_.value, title), nl=False)
