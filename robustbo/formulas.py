"""Texts that a spreadsheet program would take for formulas, and run: in every CSV file that we write they are guarded.

A program takes a text that begins with = + - or @ for one. So such a text has an apostrophe before it in the file, as a
person at the program would type it, and loses it when it is read. Numbers are left as they are.
"""

import re

EXECUTED = re.compile(r"'*[=+\-@\t\r\n]")  # and what only looks guarded: what is written is read as it was
GUARDED = re.compile(r"'+[=+\-@\t\r\n]")
NUMBER = re.compile(r"[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)?")


def guard_text(text: str) -> str:
    """A text as a CSV file may have it; see `restore_text`.

    Example:
        >>> [guard_text(text) for text in ("=1+1", "-5", "-5 mM", "'=x")]
        ["'=1+1", '-5', "'-5 mM", "''=x"]
    """
    return f"'{text}" if EXECUTED.match(text) and not NUMBER.fullmatch(text) else text


def restore_text(text: str) -> str:
    """The text that was guarded.

    Example:
        >>> restore_text(guard_text("=1+1")), restore_text("'tis")
        ('=1+1', "'tis")
    """
    return text[1:] if GUARDED.match(text) else text


def guard_cell(value: object) -> object:
    """A value as a cell of a CSV file: a text guarded, anything else as it is.

    Example:
        >>> guard_cell("@SUM(A1)"), guard_cell(-1.5)
        ("'@SUM(A1)", -1.5)
    """
    return guard_text(value) if isinstance(value, str) else value


def restore_cell(value: object) -> object:
    """The value that was there before `guard_cell`."""
    return restore_text(value) if isinstance(value, str) else value
