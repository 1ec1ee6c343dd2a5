"""The check of what people give as points: all parameters that exist, or some of them, with values of theirs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.conditions import Conditions, condition_text, present_names
from robustbo.searchspace.parameters import Choice, Parameter, Value
from robustbo.searchspace.parameters.measured import measured_value
from robustbo.validation import nearest

Parameters = Sequence[tuple[str, Parameter]]
Read = Callable[[str, Parameter, Any], Value]


def validate(name: str, parameter: Parameter, value: Any) -> Value:
    """A value of a parameter that may be asked for."""
    return parameter.validate(name, value)


def admits(parameter: Parameter, value: Any) -> bool:
    """Return whether a value of a parameter may be asked for."""
    try:
        parameter.validate("", value)
    except SpaceError:
        return False
    return True


def measured_point(parameters: Parameters, conditions: Conditions, params: Mapping[str, Any]) -> dict[str, Value]:
    """The point at which something was measured; see `robustbo.Space.measured_point`.

    Raises:
        SpaceError: As `validate_point`, except for bounds and steps.
    """
    decisive = {other for needed in conditions.values() for other in needed}  # on which it hangs what there is

    def read(name: str, parameter: Parameter, value: Any) -> Value:
        is_exact = name in decisive and not isinstance(parameter, Choice)
        return parameter.validate(name, value) if is_exact else measured_value(name, parameter, value)

    return validate_point(parameters, conditions, params, read)


def validate_point(
    parameters: Parameters, conditions: Conditions, params: Mapping[str, Any], read: Read = validate
) -> dict[str, Value]:
    """The point as plain Python values in the order of the parameters; see `robustbo.Space.validate`.

    Args:
        parameters: All of them.
        conditions: Their conditions.
        params: The values.
        read: Gives a value of a parameter as it is kept.

    Raises:
        SpaceError: If a parameter is unknown, missing, absent by its condition, of the wrong type, out of its
            bounds or NaN.
    """
    names = [name for name, _ in parameters]
    if list(params) == names and not conditions:  # as a journal has it
        return {name: read(name, parameter, params[name]) for name, parameter in parameters}
    _check_names(names, params)
    values = {name: read(name, parameter, params[name]) for name, parameter in parameters if name in params}
    present = present_names(parameters, conditions, values)
    if missing := [name for name in names if name in present and name not in params]:
        raise SpaceError(f"{missing[0]}: every parameter must have a value, and one is missing in {dict(params)!r}")
    for name, parameter in parameters:
        if name in values and name not in present:
            raise SpaceError(f"{name}: exists only where {condition_text(parameter)}; leave it out of {dict(params)!r}")
    return values


def validate_part(
    parameters: Parameters, conditions: Conditions, params: Mapping[str, Any] | None
) -> tuple[tuple[str, Value], ...]:
    """Values of some parameters, as plain Python values in their order; none for None.

    Raises:
        SpaceError: If one is unknown, breaks a rule, or does not exist with what else is given.
    """
    if params is None:
        return ()
    if not isinstance(params, Mapping):
        raise TypeError(f"fixed must be a mapping of parameters to values, got {params!r}")
    _check_names([name for name, _ in parameters], params)
    values = {name: parameter.validate(name, params[name]) for name, parameter in parameters if name in params}
    present = present_names(parameters, conditions, values)
    for name, parameter in parameters:
        if name in values and name not in present:
            condition = condition_text(parameter)
            raise SpaceError(f"{name}: exists only where {condition}; give that too, got {dict(params)!r}")
    return tuple(values.items())


def _check_names(names: Sequence[str], params: Mapping[str, Any]) -> None:
    """Raise a `SpaceError` where a parameter is none of the space."""
    for name, value in params.items():
        if name not in names:
            hint = nearest(name, names)
            raise SpaceError(f"{name}: no such parameter; the space has {list(names)}; got {value!r}{hint}")
