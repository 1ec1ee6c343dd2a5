"""Passwords in what people type as the address of a database, rightly or not."""

import re

DATABASES = "postgresql|postgres|mysql|mariadb|sqlite|oracle|mssql"
# An address with a slash or a colon too few, or without its beginning, which would name a folder with a password; a
# drive of Windows is none.
MISTYPED = re.compile(
    rf"(?![a-z]:[/\\])(?:[a-z][\w+.-]+:/(?!/)|(?:{DATABASES})(?:\+\w+)?(?::(?!//)|//|/[^/:]+:.*@)|(?://)?[^/:]+:.*@)",
    re.IGNORECASE,
)
CREDENTIALS = re.compile(r"(:/+[^\s/:@]*:|(?<![^\s'\"(/])[\w.+-]+:)(?!/)\S*[^\s@]?@(?=[\w\[])")
NO_PORT = re.compile(r"(:/+[\w.+-]+:)(?!\d*(?:[/?#\s'\"]|$))[^\s/@'\"]+(?![^\s/@'\"]*@)")  # whose @ is missing
OPTION = re.compile(r"([?&;#]\w*(?:pass|pwd|secret|token)\w*=)[^&#\s'\"]+", re.IGNORECASE)


def is_mistyped(text: str) -> bool:
    """Return whether a text is no address, and was probably meant as one.

    Example:
        >>> is_mistyped("postgresql:/me:s3cret@host/lab"), is_mistyped("./a:b@c.jsonl")
        (True, False)
    """
    return "://" not in text and MISTYPED.match(text) is not None


def has_secret_option(text: str) -> bool:
    """Return whether an option in it has the name of a secret."""
    return OPTION.search(text) is not None


def hide_passwords(text: str) -> str:
    """A text that may have an address in it, typed however, without what looks like its password.

    Example:
        >>> hide_passwords("postgresql:/me:s3cret@host/lab: there is no such file")
        'postgresql:/me:***@host/lab: there is no such file'
    """
    return OPTION.sub(r"\1***", NO_PORT.sub(r"\1***", CREDENTIALS.sub(r"\1***@", text)))
