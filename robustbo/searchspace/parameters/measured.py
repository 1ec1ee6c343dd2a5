"""Values as they were measured: off the steps, out of the bounds, or of a list that had them once."""

import math
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Int, Ordinal, Parameter, Value
from robustbo.searchspace.parameters.condition import number
from robustbo.validation import plain_scalar

FARTHEST = 1000.0  # ranges of a parameter beyond which a value is a slip, and a model's distances mean nothing


def measured_value(name: str, parameter: Parameter, value: Any) -> Value:
    """The value of a parameter at which something was measured; one that may be asked for as `validate` gives it.

    Raises:
        SpaceError: If it is no number where one must be, no value that a list has or had, not above 0 on a log scale,
            or `FARTHEST` ranges away.

    Example:
        >>> from robustbo import Float, Int
        >>> measured_value("angle", Float(0, 90), 90.03), measured_value("layers", Int(1, 8), 9.0)
        (90.03, 9)
    """
    if isinstance(parameter, Choice):
        return parameter.former_value(value) if parameter.has_former(value) else parameter.validate(name, value)
    try:
        return parameter.validate(name, value)
    except SpaceError as error:
        if parameter.interval is None or (x := _number(value)) is None:
            raise
        if parameter.log and x <= 0:
            raise SpaceError(f"{name}: must lie above 0 on a log scale, wherever it was measured, got {x!r}") from error
        if not _is_near(parameter, x):
            raise SpaceError(
                f"{error}; a measured value may lie outside, by at most {FARTHEST:g} times the range"
            ) from error
    return int(x) if isinstance(parameter, Int) and x.is_integer() else x


def _number(value: Any) -> float | None:
    """A value as a finite number; None where it is none."""
    try:
        return number("", plain_scalar(value))
    except SpaceError:
        return None


def _is_near(parameter: Parameter, x: float) -> bool:
    if isinstance(parameter, Ordinal):
        return abs(parameter.place(x) - 0.5) <= FARTHEST
    u = parameter.to_unit(x)
    return math.isfinite(u) and abs(u - 0.5) <= FARTHEST
