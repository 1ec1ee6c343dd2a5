"""The content of a cell: numbers as people and spreadsheet programs write them, and text that no program runs."""

import math
import re

from robustbo.formulas import NUMBER, guard_text

THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}")  # or three decimals
GROUPED = re.compile(
    r"[-+]?[1-9][0-9]{0,2}((\.[0-9]{3})+,|(,[0-9]{3})+\.)[0-9]+"
)  # thousands, and decimals behind them
NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)
SHOWN = 6  # digits that a spreadsheet program leaves of a number at least, where it rounds what it saves as text


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number in a cell; None where there is none.

    Args:
        text: The cell.
        decimal: What separates decimals in its file. The other mark will do too, where it cannot mean thousands.

    Raises:
        ValueError: If it may be either.

    Example:
        >>> number_of(" 3,5 "), number_of("1,234", ","), number_of("1.234,5"), number_of("12 %")
        (3.5, 1.234, 1234.5, None)
    """
    text = text.strip()
    if GROUPED.fullmatch(text):  # with both marks, of which the last one separates decimals
        at = max(text.rfind("."), text.rfind(","))
        return float(f"{re.sub('[.,]', '', text[:at])}.{text[at + 1 :]}")
    if NOT_FINITE.fullmatch(text):
        return float(text)
    if not NUMBER.fullmatch(text):
        return None
    if decimal not in text and THOUSANDS.fullmatch(text):
        decimals, thousands = re.sub("[.,]", decimal, text), re.sub("[.,]", "", text)
        raise ValueError(f"got {text!r}, which may be {decimals} or {thousands}; write one of these")
    return float(text.replace(",", "."))


def agrees(text: str, shown: float, value: float) -> bool:
    """Return whether a cell's number is a value, or what a spreadsheet program left of its digits.

    Example:
        >>> agrees("0.0316228", 0.0316228, 0.0316227766), agrees("0.032", 0.032, 0.0316227766)
        (True, False)
    """
    if shown == value or (math.isnan(shown) and math.isnan(value)):
        return True
    mantissa, _, exponent = text.strip().lower().replace(",", ".").partition("e")
    digits, decimals = re.sub("[^0-9]", "", mantissa).lstrip("0"), len(mantissa.partition(".")[2])
    if len(digits) < SHOWN or not math.isfinite(shown):
        return False
    return abs(shown - value) <= 0.5000001 * 10.0 ** (int(exponent or 0) - decimals)


def cell_text(value: object, decimal: str = ".") -> str:
    """A value as a cell of a CSV file, before any quotes; an empty one for None.

    Example:
        >>> cell_text(0.5, ","), cell_text(172), cell_text("=x"), cell_text("-5")
        ('0,5', '172', "'=x", '-5')
    """
    if isinstance(value, float):
        return repr(value).replace(".", decimal)
    return "" if value is None else guard_text(value) if isinstance(value, str) else str(value)
