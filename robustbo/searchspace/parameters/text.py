"""Values of parameters from text, as people type them and as tables have them."""

import json

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter, Value
from robustbo.searchspace.parameters.measured import measured_value
from robustbo.searchspace.units import without_unit


def value_of(name: str, parameter: Parameter, text: str) -> Value:
    """A value of a parameter that was typed: a number, or one of those that are listed.

    Raises:
        SpaceError: If it is no value of the parameter; the message begins with the name.

    Example:
        >>> value_of("dose", Ordinal(0.1, 0.5), "0.50"), value_of("acid", Choice("1", True, None), "true")
        (0.5, True)
    """
    if parameter.interval is not None:
        text = without_unit(name, text)
    if isinstance(parameter, Choice | Ordinal):
        for value in parameter.values:
            if text == value or (
                isinstance(value, bool | None) and text.lower() in (str(value).lower(), json.dumps(value))
            ):
                return value
    for kind in (whole_number, number):
        try:
            return parameter.validate(name, kind(text))
        except SpaceError:
            raise
        except ValueError:
            continue
    return parameter.validate(name, text)


def measured_value_of(name: str, parameter: Parameter, text: str) -> Value:
    """A value that was typed of a parameter, at which something was measured: outside its bounds and steps too.

    Raises:
        SpaceError: If it cannot be modelled; see `robustbo.searchspace.parameters.measured`.

    Example:
        >>> measured_value_of("dose", Ordinal(0.1, 0.5), "0.52")
        0.52
    """
    try:
        return value_of(name, parameter, text)
    except SpaceError:
        try:
            return measured_value(name, parameter, number(without_unit(name, text)))
        except ValueError as error:
            if isinstance(error, SpaceError):
                raise
        raise


def whole_number(text: str) -> int:
    """A whole number, without underscores.

    Raises:
        ValueError: If it is none.
    """
    return int("" if "_" in text else text)


def number(text: str) -> float:
    """A number with a decimal point, without underscores.

    Raises:
        ValueError: If it is none.
    """
    return float("" if "_" in text else text)
