"""TOML and JSON of others: of bounded length, depth and digits, each key once; all is checked before it is parsed."""

import json
import re
import tomllib
from typing import Any

from robustbo import limits
from robustbo.errors import FileError
from robustbo.foreign.reading import Kind

# The pieces of TOML and JSON that matter here; what begins as a text and does not end is one all the same, so that
# looking takes a time proportional to the length.
STRING = r'"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3})?' + "|'{3}(?:[^']|'(?!''))*+(?:'{3})?" + r'|"(?:[^"\\\n]|\\.)*+"?'
LITERAL = "|'[^'\n]*+'?"
PIECE = re.compile(rf"(?P<text>{STRING}{LITERAL})|(?P<word>[\w+-]+)|(?P<dot>\.)|(?P<open>[\[{{])|(?P<close>[\]}}])"
                   r"|(?P<comment>\#[^\n]*)|(?P<blank>[ \t]+)|(?P<other>.)", re.DOTALL)  # fmt: skip


def toml_of(text: str, name: str, error: Kind = FileError) -> dict[str, Any]:
    """The contents of a text of TOML.

    Args:
        text: It.
        name: Of the file, for errors.
        error: What is raised: made of the message.

    Raises:
        RobustBOError: As `error` makes it, where it is no TOML, or beyond a limit.
    """
    try:
        check_shape(text)
        return tomllib.loads(text)
    except ValueError as reason:
        raise error(f"{name}: expected TOML: {reason}") from None


def json_of(text: str, name: str, error: Kind = FileError) -> Any:
    """The contents of a text of JSON, each name of an object once; raises as `toml_of`."""
    try:
        check_shape(text)
        return json.loads(text, object_pairs_hook=_each_once)
    except ValueError as reason:
        raise error(f"{name}: expected JSON: {reason}") from None


def check_shape(text: str) -> None:
    """Raise a ValueError where a text is too long, too deep, or has too long a number.

    Args:
        text: TOML, or JSON.
    """
    if len(text) > limits.TEXT_BYTES:
        raise ValueError(f"must have at most {limits.TEXT_BYTES} characters, got {len(text)}")
    depth = parts = 0
    for piece in PIECE.finditer(text):
        kind = piece.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "dot":
            parts += 1
        elif kind not in ("word", "text", "blank"):
            parts = 0
        if max(depth, parts) > limits.DEPTH:
            place = f"got more at character {piece.start()}"
            raise ValueError(f"tables, lists and dotted keys must be nested at most {limits.DEPTH} deep, {place}")
        if kind == "word" and (digits := sum(map(str.isdigit, piece[0]))) > limits.DIGITS:
            raise ValueError(f"a number must have at most {limits.DIGITS} digits, got {digits}")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"each name must occur once, got {twice!r} twice")
    return content
