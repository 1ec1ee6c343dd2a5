"""Numbers for people: few digits, but none cut that stands before the point, or that a standard deviation shows."""

import math

MOST = 15  # digits before the point, beyond which a power of ten is easier to read; digits that a float has


def format_number(value: float, least: int = 6, sd: float | None = None) -> str:
    """A number with at least so many significant digits, and all that stand before the decimal point.

    Args:
        value: It.
        least: Significant digits.
        sd: A standard deviation to which it is compared: all digits down to the second one of that are shown.

    Example:
        >>> [format_number(number) for number in (123456789012.25, 0.123456789, 5e17)], format_number(12345.6, 4)
        (['123456789012', '0.123457', '5e+17'], '12346')
        >>> format_number(1013.29908, 4, 0.0058), format_number(1013.29908, 4, 2.0)
        ('1013.2991', '1013.3')
    """
    if not math.isfinite(value) or not abs(value):  # a bound equals no number
        return f"{value:.{least}g}"
    order, digits = math.floor(math.log10(abs(value))), least
    if 0 <= order < MOST:
        digits = max(digits, order + 1)
    if sd is not None and 0 < sd < math.inf:
        digits = max(digits, min(order - math.floor(math.log10(sd)) + 2, MOST))
    return f"{value:.{digits}g}"
