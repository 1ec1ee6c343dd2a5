"""The arithmetic of numbers, NumPy arrays and torch tensors alike: what has no finite value is NaN, and nothing raises.

Beside its value an expression has a magnitude: what relative errors of its parameters, and of each operation, are
multiplied by. A sum's is the sum of its terms' magnitudes, whatever the terms' signs, so an excess that is 0 by
cancellation can be told from 0 by rounding. Each pair here is (value, magnitude).

Notation:
    v, m    the first operand's value and magnitude
    w, n    the second operand's

References:
    Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.3 (running error analysis).
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Pair = tuple[Any, Any]


def plain(value: Any) -> Any:
    """A parameter's values as what can be calculated with: a float, an array of floats or a tensor of them.

    Example:
        >>> plain(3), plain([1, 2])
        (3.0, array([1., 2.]))
    """
    if isinstance(value, int | float):
        return float(value)
    if hasattr(value, "detach"):  # a tensor; torch is not imported here, so that making a space is quick
        return value if value.is_floating_point() else value.double()
    array = np.asarray(value, dtype=float)
    return array if array.ndim else float(array)


def finite(value: Any, otherwise: float = math.nan) -> Any:
    """The value, elementwise, where it is finite; else another."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else otherwise
    if isinstance(value, np.ndarray):
        return np.where(np.isfinite(value), value, otherwise)
    return value.where(value.isfinite(), otherwise)


def _safe(operation: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        try:
            value = operation(*operands)
        except (ZeroDivisionError, OverflowError):
            return math.nan
        return math.nan if isinstance(value, complex) else finite(value)

    return apply


VALUES: dict[str, Callable[..., Any]] = {
    "+": _safe(operator.add),
    "-": _safe(operator.sub),
    "*": _safe(operator.mul),
    "/": _safe(operator.truediv),
    "**": _safe(operator.pow),
    "negative": operator.neg,
}
add, subtract, multiply, divide, power = (VALUES[sign] for sign in ("+", "-", "*", "/", "**"))


def _quotient_pair(a: Pair, b: Pair) -> Pair:
    (v, m), (w, n) = a, b
    return divide(v, w), multiply(divide(m, abs(w)), divide(n, abs(w)))


def _power_pair(a: Pair, b: Pair) -> Pair:
    (v, m), (w, _) = a, b
    slope = finite(abs(multiply(w, power(v, subtract(w, 1.0)))), 0.0)  # none at a root's end, where it is infinite
    return power(v, w), add(abs(power(v, w)), multiply(slope, m))


MAGNITUDES: dict[str, Callable[..., Pair]] = {
    "+": lambda a, b: (add(a[0], b[0]), add(a[1], b[1])),
    "-": lambda a, b: (subtract(a[0], b[0]), add(a[1], b[1])),
    "*": lambda a, b: (multiply(a[0], b[0]), multiply(a[1], b[1])),
    "/": _quotient_pair,
    "**": _power_pair,
    "negative": lambda a: (-a[0], a[1]),
}
