"""The doubt whether a recommended point keeps the bounds of other outcomes, in words."""

LIKELY = 0.5  # probability that all constraints are kept, from which on a point may be recommended
LEAST = 0.001  # of which a probability is written down
SURE = 0.995  # from which on it is not said: it would be rounded to 1


def doubt_of_bounds(p: float, *, is_raw: bool = False) -> str:
    """The end of a sentence on a point; empty where there is no doubt.

    Args:
        p: The probability that it keeps all bounds.
        is_raw: Whether that is by its own values alone.

    Example:
        >>> doubt_of_bounds(0.9), doubt_of_bounds(1.0)
        ('; it keeps the bounds with probability 0.9', '')
    """
    if is_raw and p == 0:
        return "; no trial has kept the bounds"
    if p < LIKELY:
        chance = f"{p:.2g}" if p > LEAST else f"below {LEAST}"
        return f"; no point measured probably keeps the bounds, this one does with probability {chance}"
    return "" if p > SURE else f"; it keeps the bounds with probability {p:.2g}"
