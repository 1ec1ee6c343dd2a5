"""Linear forms, and the arithmetic that stays among them: None is what is not linear."""

import math
from typing import NamedTuple


class Linear(NamedTuple):
    """A sum of parameters times ``coefficients``, none of which is 0, and a ``constant``."""

    coefficients: tuple[tuple[str, float], ...]
    constant: float


def number(value: float) -> Linear | None:
    """A constant."""
    return Linear((), value) if math.isfinite(value) else None


def name(word: str) -> Linear | None:
    """A parameter by itself."""
    return Linear(((word, 1.0),), 0.0)


def _scale(form: Linear | None, factor: float) -> Linear | None:
    if form is None:
        return None
    return _linear_form({word: factor * value for word, value in form.coefficients}, factor * form.constant)


def _linear_form(coefficients: dict[str, float], constant: float) -> Linear | None:
    if not all(map(math.isfinite, (*coefficients.values(), constant))):
        return None
    return Linear(tuple((word, value) for word, value in coefficients.items() if value), constant)


def _sum(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    total = dict(a.coefficients)
    for word, value in b.coefficients:
        total[word] = total.get(word, 0.0) + value
    return _linear_form(total, a.constant + b.constant)


def _product(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    if not a.coefficients:
        return _scale(b, a.constant)
    return None if b.coefficients else _scale(a, b.constant)


def _quotient(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None or b.coefficients or b.constant == 0.0:
        return None
    return _linear_form({word: value / b.constant for word, value in a.coefficients}, a.constant / b.constant)


def _power(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None or b.coefficients:
        return None
    if b.constant == 1.0:
        return a
    if a.coefficients:
        return number(1.0) if b.constant == 0.0 else None  # Python's 0**0 is 1
    try:
        value = a.constant**b.constant
    except (ZeroDivisionError, OverflowError):
        return None
    return None if isinstance(value, complex) else number(value)


OPERATIONS = {
    "+": _sum,
    "-": lambda a, b: _sum(a, _scale(b, -1.0)),
    "*": _product,
    "/": _quotient,
    "**": _power,
    "negative": lambda a: _scale(a, -1.0),
}
