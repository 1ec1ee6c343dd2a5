"""Cells of settings that still mean a value, as spreadsheet programs may have changed them: 007 is 7 then."""

import re

from robustbo.searchspace.parameters import Parameter, Value
from robustbo.sheets.cells import agrees, number_of


def is_as_asked(parameter: Parameter, text: str, value: Value, decimal: str) -> bool:
    """Return whether a cell still has the value that was asked for, as spreadsheet programs may have changed it."""
    if isinstance(value, bool | None):
        return text.strip().casefold() == str(value).casefold()
    if isinstance(value, str) and (text == value or text in getattr(parameter, "values", ())):
        return text == value
    numbers = _numbers(text, decimal)
    if isinstance(value, str):  # 007 is 7 then
        return text.strip() == value.strip() or bool({*numbers} & {*_numbers(value, ".")})
    return any(agrees(text, number, value) for number in numbers)


def _numbers(text: str, decimal: str) -> list[float]:
    """The numbers that a cell may mean: none, one, or two where it may have three decimals or thousands."""
    try:
        number = number_of(text, decimal)
        return [] if number is None else [number]
    except ValueError:
        return [float(re.sub("[.,]", "", text)), float(text.replace(",", "."))]
