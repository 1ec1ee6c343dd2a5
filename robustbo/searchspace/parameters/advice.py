"""Advice for what people write in the place of a parameter: the parameter that they probably mean."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.validation import plain_scalar

SCALARS = str | bool | int | float | None


def advice_for(value: Any) -> str:
    """Advice on how to write a value as a parameter, to end a message with; empty where there is none.

    Example:
        >>> advice_for((0.0, 1.0)), advice_for(["a", "b"])
        ('; write rb.Float(0.0, 1.0)', "; write rb.Choice('a', 'b')")
        >>> advice_for((1, 8))
        '; write rb.Float(1, 8), or rb.Int(1, 8) for whole numbers'
        >>> advice_for(0.5)
        '; what is always the same is no parameter: leave it out, or write rb.Choice(0.5)'
    """
    if isinstance(value, type) and value in (float, int, Float, Int):
        return f"; write {'rb.Int(1, 8)' if value in (int, Int) else 'rb.Float(0.0, 1.0)'}, with its bounds"
    if isinstance(value, type):
        return "; write rb.Choice('a', 'b'), with its values" if value in (str, bool, Choice, Ordinal) else ""
    if isinstance(value, Mapping):
        low, high = (value.get(word) for word in ("low", "high"))
        return f"; write {_range(low, high)}" if _is_number(low) and _is_number(high) else ""
    if isinstance(value, SCALARS):
        return f"; what is always the same is no parameter: leave it out, or write rb.Choice({value!r})"
    if isinstance(value, Sequence | Set) or hasattr(value, "tolist"):
        return _advice_for_list([*map(plain_scalar, value)])
    return ""


def _advice_for_list(values: list[Any]) -> str:
    if not values or not all(isinstance(value, SCALARS) for value in values):
        return ""
    shown = ", ".join(map(repr, values))
    if not all(map(_is_number, values)):
        return f"; write rb.Choice({shown})"
    if len(values) == 2 and values[0] < values[1]:
        return f"; write {_range(*values)}"
    return f"; write rb.{'Ordinal' if sorted(set(values)) == values else 'Choice'}({shown})"


def _range(low: Any, high: Any) -> str:
    alternative = (
        f", or rb.Int({low!r}, {high!r}) for whole numbers" if isinstance(low, int) and isinstance(high, int) else ""
    )
    return f"rb.Float({low!r}, {high!r}){alternative}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
