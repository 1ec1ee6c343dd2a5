"""Advice for what people write in place of a parameter: the parameter that they probably mean."""

from collections.abc import Set
from typing import Any

from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.parameters.foreign_ranges import Meaning, meaning_of
from robustbo.validation import plain_scalar

SCALARS = str | bool | int | float | None


def advice_for(value: Any, *, is_in_file: bool = False) -> str:
    """Advice on how to write a value as a parameter, to end a message with; empty where there is none.

    Args:
        value: It.
        is_in_file: Whether it is written as in a file of a space, and not in Python.

    Example:
        >>> advice_for((0.0, 1.0)), advice_for(["a", "b"])
        ('; write rb.Float(0.0, 1.0)', "; write rb.Choice('a', 'b')")
        >>> advice_for((1, 8))
        '; write rb.Float(1, 8), or rb.Int(1, 8) for whole numbers'
        >>> advice_for(0.5)
        '; what is always the same is no parameter: leave it out, or write rb.Choice(0.5)'
        >>> advice_for((0.1, 10.0, "log-uniform"))
        '; did you mean rb.Float(0.1, 10.0, log=True)?'
    """
    if (meaning := meaning_of(value)) is not None:
        return f"; did you mean {meaning.form if is_in_file else meaning.call}?"
    if isinstance(value, list | tuple | Set) or (hasattr(value, "tolist") and not isinstance(value, type)):
        listed = _meaning_of_list([*map(plain_scalar, value)])
        return "" if listed is None else f"; write {listed.form if is_in_file else listed.call}"
    return "" if is_in_file else _advice_for_name(value)


def _advice_for_name(value: Any) -> str:
    """Advice for a type, or for a single value."""
    if isinstance(value, type) and value in (float, int, Float, Int):
        return f"; write {'rb.Int(1, 8)' if value in (int, Int) else 'rb.Float(0.0, 1.0)'}, with its bounds"
    if isinstance(value, type):
        return "; write rb.Choice('a', 'b'), with its values" if value in (str, bool, Choice, Ordinal) else ""
    if isinstance(value, SCALARS):
        return f"; what is always the same is no parameter: leave it out, or write rb.Choice({value!r})"
    return ""


def _meaning_of_list(values: list[Any]) -> Meaning | None:
    """The range of two numbers that rise, or a choice of values."""
    if not values or not all(isinstance(value, SCALARS) for value in values):
        return None
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Meaning("choice", values)
    if len(values) == 2 and values[0] < values[1]:
        return Meaning("float", values, is_either=all(isinstance(value, int) for value in values))
    return Meaning("ordinal" if sorted(set(values)) == values else "choice", values)
