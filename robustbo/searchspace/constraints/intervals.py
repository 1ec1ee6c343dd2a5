"""Interval arithmetic: bounds of all values that an operation takes, rounded outward.

What has no value (a division by zero, a root of a negative number) or one too large for a float is in no interval.
Beside its bounds an expression has a magnitude, which bounds what rounding errors of its parameters do to it: the
second of each pair here (see `robustbo.searchspace.constraints.arithmetic`).

References:
    Moore, Kearfott and Cloud, Introduction to Interval Analysis (2009), chapters 2 and 5.
"""

import math
from itertools import product

Interval = tuple[float, float]
Bounded = tuple[Interval, float]  # an interval, and the most that the magnitude is
EVERYTHING: Interval = (-math.inf, math.inf)
ULPS = 8  # errors of a power: a C library's is below 1, a vectorized one's up to 4


def leaf_bounds(low: float, high: float) -> Bounded:
    """A parameter within its bounds, or a number."""
    return (low, high), most((low, high))


def most(a: Interval) -> float:
    """The largest absolute value."""
    return max(abs(a[0]), abs(a[1]))


def least(a: Interval) -> float:
    """The smallest absolute value."""
    return 0.0 if a[0] <= 0.0 <= a[1] else min(abs(a[0]), abs(a[1]))


def _outward(values: list[float]) -> Interval:
    return math.nextafter(min(values), -math.inf), math.nextafter(max(values), math.inf)


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y  # an infinite bound is never taken


def add(a: Interval, b: Interval) -> Interval:
    """The sum."""
    return _outward([a[0] + b[0], a[1] + b[1]])


def subtract(a: Interval, b: Interval) -> Interval:
    """The difference."""
    return add(a, negative(b))


def negative(a: Interval) -> Interval:
    """The negative."""
    return -a[1], -a[0]


def multiply(a: Interval, b: Interval) -> Interval:
    """The product."""
    return _outward([_times(x, y) for x, y in product(a, b)])


def divide(a: Interval, b: Interval) -> Interval:
    """The quotient; everything where the divisor may be 0."""
    if b[0] <= 0.0 <= b[1]:
        return EVERYTHING
    return multiply(a, _outward([1.0 / b[0], 1.0 / b[1]]))


def power(a: Interval, b: Interval) -> Interval:
    """The power: by cases for a whole exponent, at the corners for a base that is not negative, else by its size."""
    if b[0] == b[1] and float(b[0]).is_integer():
        return _whole_power(a, b[0])
    if b[0] == b[1]:
        a = max(a[0], 0.0), a[1]  # a negative number has no such power
    if a[1] < a[0]:
        return EVERYTHING
    if a[0] >= 0.0:
        return _corners(a, b)
    size = _corners((least(a), most(a)), b)[1]
    return -size, size


def _whole_power(a: Interval, n: float) -> Interval:
    if n < 0:
        return divide((1.0, 1.0), _whole_power(a, -n))
    if n % 2 == 1:
        return _widen([math.copysign(_power(abs(x), n), x) for x in a])
    return _corners((least(a), most(a)), (n, n))


def _corners(a: Interval, b: Interval) -> Interval:
    """The power of a base that is not negative: it rises or falls in either argument, so its bounds are at corners."""
    low, high = _widen([_power(x, y) for x, y in product(a, b)])
    return max(low, 0.0), high


def _widen(values: list[float]) -> Interval:
    low, high = min(values), max(values)
    widen = ULPS * math.ulp(1.0)
    return _outward([low * (1 - math.copysign(widen, low)), high * (1 + math.copysign(widen, high))])


def _power(x: float, y: float) -> float:
    try:
        return x**y
    except (ZeroDivisionError, OverflowError):
        return math.inf


def _quotient_bounds(a: Bounded, b: Bounded) -> Bounded:
    (x, m), (y, n) = a, b
    near = least(y)
    return divide(x, y), _times(m / near, n / near) if near else math.inf


def _power_bounds(a: Bounded, b: Bounded) -> Bounded:
    (x, m), (y, _) = a, b
    less = (y[0] - 1.0, y[0] - 1.0) if y[0] == y[1] else subtract(y, (1.0, 1.0))
    slope = _times(most(y), most(power(x, less)))
    return power(x, y), most(power(x, y)) + _times(slope, m)


OPERATIONS = {
    "+": lambda a, b: (add(a[0], b[0]), a[1] + b[1]),
    "-": lambda a, b: (subtract(a[0], b[0]), a[1] + b[1]),
    "*": lambda a, b: (multiply(a[0], b[0]), _times(a[1], b[1])),
    "/": _quotient_bounds,
    "**": _power_bounds,
    "negative": lambda a: (negative(a[0]), a[1]),
}
