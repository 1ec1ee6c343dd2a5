"""Telling trials apart, and calling them: points as keys, titles, and reasons in a line."""

from collections.abc import Mapping

from robustbo.searchspace.parameters import Value

Point = tuple[tuple[str, bool, Value], ...]


def point_of(params: Mapping[str, Value]) -> Point:
    """The names and values of parameters, hashable, and True told from 1.

    Example:
        >>> point_of({"x": 1}) == point_of({"x": True})
        False
    """
    return tuple((name, isinstance(value, bool), value) for name, value in params.items())


def title_of(number: int, name: object = None) -> str:
    """The words for a trial, with its name where it has one."""
    return f"trial {number}" if name is None else f"{name} (trial {number})"


def in_a_line(reason: str | None) -> str:
    """The reason why a trial failed, in a line: the last of a traceback, where the error is; "" where there is none.

    Example:
        >>> in_a_line("Traceback (most recent call last):\\n  ...\\nValueError: no flow")
        'ValueError: no flow'
    """
    lines = (reason or "").strip().splitlines() or [""]
    return lines[-1] if "Traceback" in lines[0] or lines[0].startswith("...") else lines[0]
