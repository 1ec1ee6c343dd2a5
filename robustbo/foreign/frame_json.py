"""Numbers after a journey through the JSON of a data frame, in which libraries store what they were told."""

DECIMALS = 10  # that pandas writes; of numbers below 1e-15 and from 1e16 on it writes an exponent, and one digit less


def number_in_json(number: float) -> float:
    """Round a number as the JSON of a data frame does.

    Example:
        >>> number_in_json(2 / 3), number_in_json(2e-13), number_in_json(2e17 / 3)
        (0.6666666667, 0.0, 6.666666667e+16)
    """
    has_exponent = 0 < abs(number) < 1e-15 or abs(number) >= 1e16
    return float(f"{number:.{DECIMALS - 1}e}" if has_exponent else f"{number:.{DECIMALS}f}")
