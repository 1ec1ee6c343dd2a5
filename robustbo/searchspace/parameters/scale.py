"""Maps between values and the unit interval, for floats and tensors alike."""

import math
from typing import Any, NamedTuple


class Scale(NamedTuple):
    """The map of [0, 1] to a range: ``low + u * span``, or ``low * exp(u * span)`` on a log scale.

    Attributes:
        low: The value at 0.
        span: By how much the value at 1 exceeds it; on a log scale, by how much its logarithm does.
        is_log: Whether the scale is logarithmic.

    Example:
        >>> decades = Scale(1.0, math.log(100.0), is_log=True)
        >>> round(decades.value(0.5), 9), decades.unit(10.0)
        (10.0, 0.5)
    """

    low: Any
    span: Any
    is_log: bool = False

    def value(self, u: Any) -> Any:
        """The value at a coordinate."""
        if not self.is_log:
            return self.low + u * self.span
        rise = u * self.span
        return self.low * (rise.exp() if hasattr(rise, "exp") else math.exp(rise))

    def unit(self, value: Any) -> Any:
        """The coordinate of a value; outside [0, 1] where the value is out of the range."""
        if not self.is_log:
            return (value - self.low) / self.span
        ratio = value / self.low
        return (ratio.log() if hasattr(ratio, "log") else math.log(ratio)) / self.span

    def slope(self, u: Any) -> Any:
        """The derivative of the value along the coordinate."""
        return self.value(u) * self.span if self.is_log else self.span


def cell_middle(index: Any, count: int) -> Any:
    """The middle of a cell, of as many of equal width as the unit interval has."""
    return (index + 0.5) / count


def cell_index(u: float, count: int) -> int:
    """The number of the cell that holds a coordinate; that of the first or the last beyond the interval."""
    return min(max(math.floor(u * count), 0), count - 1)
