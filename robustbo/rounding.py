"""Numbers for people: few digits, but none cut that stands before the point."""

import math

MOST = 15  # digits before the point, beyond which a power of ten is easier to read


def format_number(value: float, least: int = 6) -> str:
    """A number with at least so many significant digits, and all that stand before the decimal point.

    Example:
        >>> [format_number(number) for number in (123456789012.25, 0.123456789, 5e17)], format_number(12345.6, 4)
        (['123456789012', '0.123457', '5e+17'], '12346')
    """
    if not math.isfinite(value) or not 1 <= abs(value) < 10**MOST:
        return f"{value:.{least}g}"
    return f"{value:.{max(least, math.floor(math.log10(abs(value))) + 1)}g}"
