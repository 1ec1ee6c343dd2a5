"""The evidence on a value in words that need no statistics: what the others predict, and how rare it would be."""

import math
from collections.abc import Mapping

from robustbo.loop.belief.judge import Outlier
from robustbo.rounding import format_number

QUANTILE = 1.959964  # of a normal distribution, at both ends of its 95 %
RAREST = 1e6  # times, beyond which only an order says something
PLAIN = 20  # times, up to which a value is nothing special
STATUSES: Mapping[str, str] = {
    "inlier": "believed",
    "confirmed": "believed; its point was measured more than once",
    "flagged": "looks wrong",
    "quarantined": "looks wrong, and is left out for now",
    "refuted": "looks wrong beside another value there",
    "vouched for": "vouched for",
    "excluded": "excluded",
    "failed": "gave no value",
}


def interval_text(outlier: Outlier) -> str:
    """The interval in which the others predict a value with 95 %, within the possible range, with its unit."""
    of, way = outlier.quantity, QUANTILE * outlier.sd
    low, high = (of.nearest(outlier.expected + sign * way) for sign in (-1, 1))
    digits = digits_for(low, high)
    return of.with_unit(f"{format_number(low, digits)} to {format_number(high, digits)}")


def digits_for(low: float, high: float) -> int:
    """The number of significant digits that tell two ends of an interval apart, and one more.

    Example:
        >>> digits_for(62.123, 71.3), digits_for(70.01, 70.02)
        (2, 5)
    """
    width, size = abs(high - low), max(abs(low), abs(high))
    if not (width > 0 and math.isfinite(width)):
        return 4
    return max(2, 1 + math.ceil(math.log10(size / width))) if size > width else 2


def surprise(outlier: Outlier) -> float:
    """The number of values as predicted that come, on the average, on one as far from the prediction as this."""
    if outlier.sd <= 0:
        return math.inf
    tail = math.erfc(abs(outlier.value - outlier.expected) / outlier.sd / math.sqrt(2))
    return 1 / tail if tail > 0 else math.inf


def evidence_text(outlier: Outlier, num_others: int) -> str:
    """The evidence on a value, in a sentence without its end.

    Args:
        outlier: The value, with what the others predict for it.
        num_others: How many other values there are.
    """
    of = outlier.quantity
    subject = "the other measurement predicts" if num_others == 1 else f"the other {num_others} measurements predict"
    prediction = f"{subject} {interval_text(outlier)} here"
    times = surprise(outlier)
    if times < PLAIN:
        return f"{prediction}, and {of.number(outlier.value, 4, outlier.sd)} agrees with that"
    rarity = f"one in {_in_few_digits(times)}" if times < RAREST else "rarer than one in a million"
    return f"{prediction}; {of.number(outlier.value, 4, outlier.sd)} would be a surprise that is {rarity}"


def _in_few_digits(times: float) -> str:
    """A number of times in one digit, or in two below 100."""
    step = 10 ** (math.floor(math.log10(times)) - (1 if times < 100 else 0))
    return f"{round(times / step) * step:,.0f}"
