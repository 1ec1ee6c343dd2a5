"""Texts that a spreadsheet program would take for formulas, and run: in every CSV file that we write they are guarded.

A program takes a text that begins with = + - or @ for one. So such a text has an apostrophe before it in the file, as a
person at the program would type it, and loses it when it is read. Numbers are left as they are.
"""

import re

EXECUTED = re.compile(r"'*[=+\-@\t\r\n]")  # and what only looks guarded: what is written is read as it was
GUARDED = re.compile(r"'+[=+\-@\t\r\n]")
NUMBER = re.compile(r"[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)?")


def guarded(text: str) -> str:
    """A text as a CSV file may have it; see `restored`.

    Example:
        >>> guarded("=1+1"), guarded("-5"), guarded("-5 mM"), guarded("'=x")
        ("'=1+1", '-5', "'-5 mM", "''=x")
    """
    return f"'{text}" if EXECUTED.match(text) and not NUMBER.fullmatch(text) else text


def restored(text: str) -> str:
    """The text that was guarded.

    Example:
        >>> restored(guarded("=1+1")), restored("'tis")
        ('=1+1', "'tis")
    """
    return text[1:] if GUARDED.match(text) else text


def guarded_cell(value: object) -> object:
    """A value as a cell of a CSV file: a text guarded, anything else as it is.

    Example:
        >>> guarded_cell("@SUM(A1)"), guarded_cell(-1.5)
        ("'@SUM(A1)", -1.5)
    """
    return guarded(value) if isinstance(value, str) else value


def restored_cell(value: object) -> object:
    """The value that was there before `guarded_cell`."""
    return restored(value) if isinstance(value, str) else value
