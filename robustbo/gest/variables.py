"""Variables of a VOCS as parameters, in the plain form that a space is read from."""

import math
from typing import Any

import numpy as np
from gest_api.vocs import ContextualVariable, ContinuousVariable, DiscreteVariable

from robustbo.validation import plain_scalar


def parameter_of(name: str, variable: Any, *, is_log: bool) -> dict[str, Any]:
    """A variable as the plain form of a parameter.

    A continuous one whose dtype is that of whole numbers is an Int. Discrete numbers are in order: an Int where they
    are consecutive whole numbers, else an Ordinal. Other discrete values are a Choice, sorted, since a set's own order
    may be another in the next process.

    Args:
        name: Of the variable, for messages.
        variable: It.
        is_log: Whether it is to be searched on a log scale.

    Raises:
        ValueError: If it cannot be chosen, or is an array.

    Example:
        >>> parameter_of("n", DiscreteVariable(values={4, 2, 3}), is_log=False)
        {'kind': 'int', 'low': 2, 'high': 4, 'log': False}
    """
    if isinstance(variable, ContextualVariable):
        raise ValueError(f"{name}: must be a variable that can be chosen, got a contextual one, which is only observed")
    if isinstance(variable, ContinuousVariable):
        return _continuous(name, variable, is_log)
    if isinstance(variable, DiscreteVariable):
        return _discrete(name, variable, is_log)
    raise ValueError(f"{name}: must be a continuous or discrete variable, got {variable!r}")


def _continuous(name: str, variable: Any, is_log: bool) -> dict[str, Any]:
    low, high = variable.domain
    kind = _kind(name, variable.dtype)
    if kind in "iu":
        if not math.isfinite(low) or not math.isfinite(high):
            raise ValueError(f"{name}: bounds must be finite, got [{low}, {high}]")
        return {"kind": "int", "low": math.ceil(low), "high": math.floor(high), "log": is_log}
    if kind != "f":
        raise ValueError(f"{name}: dtype must be that of real or whole numbers, got {variable.dtype!r}")
    return {"kind": "float", "low": low, "high": high, "log": is_log}


def _kind(name: str, dtype: Any) -> str:
    """NumPy's letter of a dtype; "f" unless one is given."""
    try:
        kind = np.dtype(float if dtype is None else dtype)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: dtype must be one of NumPy's, got {dtype!r}") from None
    if kind.shape:
        raise ValueError(f"{name}: must be a scalar, got an array of dtype {dtype!r}; make each entry a variable")
    return kind.kind


def _discrete(name: str, variable: Any, is_log: bool) -> dict[str, Any]:
    values = [plain_scalar(value) for value in variable.values]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        values.sort()
        if len(values) > 1 and all(isinstance(v, int) and v == values[0] + i for i, v in enumerate(values)):
            return {"kind": "int", "low": values[0], "high": values[-1], "log": is_log}
        return {"kind": "ordinal", "values": values, "log": is_log}
    if is_log:
        raise ValueError(f"{name}: a log scale needs numbers, got {sorted(map(repr, values))}")
    return {"kind": "choice", "values": sorted(values, key=lambda value: (type(value).__name__, str(value)))}
