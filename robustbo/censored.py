"""Values that were told as a bound, such as "<0.05": below a detection limit, or above what an instrument can read.

People tell `Below` and `Above`. These are no numbers, so that no table of numbers takes the limit for a measurement. In
a trial they are a `CensoredValue`: a float, the limit, that is written with its sign and equals no plain number.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from robustbo.validation import as_number, real

TEXT = re.compile(r"\s*([<>])(?!\s*>)\s*=?\s*(\S+)\s*|\s*([≤≥])\s*(\S+)\s*")
SIGNS = {"≤": "<", "≥": ">"}


@dataclass(frozen=True)
class Bound:
    """A value of which only a bound is known; see `Below` and `Above`.

    Args:
        limit: A finite number.

    Raises:
        TypeError, ValueError: If it is none.
    """

    limit: float
    sign: ClassVar[str] = ""

    def __post_init__(self) -> None:
        limit = real("the limit of a bound", self.limit)
        if not math.isfinite(limit):
            raise ValueError(f"the limit of a bound must be finite, got {limit}; call `fail` if there is no value")
        object.__setattr__(self, "limit", limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.limit!r})"

    def __str__(self) -> str:
        return f"{self.sign}{self.limit!r}"


class Below(Bound):
    """A value of at most some limit, such as one below the detection limit; tell it like any other value.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
        >>> opt.tell({"x": 0.5}, rb.Below(0.05)).value
        <0.05
    """

    sign = "<"


class Above(Bound):
    """A value of at least some limit, such as the saturation of an instrument; see `Below`.

    Example:
        >>> str(Above(200))
        '>200.0'
    """

    sign = ">"


class CensoredValue(float):
    """A recorded value of which only a bound is known: a float, the limit, that equals no plain number.

    Attributes:
        sign: "<" or ">".

    Example:
        >>> value = read_bound("<= 0.05")
        >>> value, f"{value:.3g}", value == 0.05, value + 1, value.bound
        (<0.05, '<0.05', False, 1.05, Below(0.05))
    """

    sign: ClassVar[str] = ""

    @property
    def bound(self) -> Bound:
        """The bound, as people tell it."""
        return (Below if self.sign == "<" else Above)(float(self))

    def __repr__(self) -> str:
        return f"{self.sign}{float(self)!r}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return f"{self.sign}{float(self):{spec}}"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and float(self) == float(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.sign, float(self)))


class _AtMost(CensoredValue):
    sign = "<"


class _AtLeast(CensoredValue):
    sign = ">"


def value_at_limit(sign: str, limit: float) -> CensoredValue:
    """The value with a sign, "<" or ">", before its limit."""
    return (_AtMost if sign == "<" else _AtLeast)(limit)


def censored_value(value: Any) -> CensoredValue | None:
    """The recorded form of what was told as a bound: an object, or a text; None of anything else.

    Raises:
        ValueError: If a text begins as a bound does, and has no finite number.

    Example:
        >>> censored_value(Below(3)), censored_value("> 200"), censored_value(0.05)
        (<3.0, >200.0, None)
    """
    if isinstance(value, CensoredValue):
        return value
    if isinstance(value, Bound):
        return value_at_limit(value.sign, value.limit)
    return read_bound(value) if isinstance(value, str) else None


def read_bound(text: str, number: Callable[[str], float | None] | None = None) -> CensoredValue | None:
    """The bound in a text such as "<0.05", ">200" or "<= 0.05"; None where it does not begin with such a sign.

    Args:
        text: The text.
        number: How its number is read; None, or a ValueError, where there is none.

    Raises:
        ValueError: If it has no finite number.

    Example:
        >>> [read_bound(text) for text in ("<0.05", " >= 200 ", "≤3", "0.05", "n/a")]
        [<0.05, >200.0, <3.0, None, None]
    """
    match = TEXT.fullmatch(text)
    if match is None:
        if text.strip()[:1] in {"<", ">", *SIGNS}:
            raise ValueError(f"a bound must be < or > and one number, such as <0.05, got {text.strip()!r}")
        return None
    sign, digits = match[1] or SIGNS[match[3]], match[2] or match[4]
    try:
        limit = (float if number is None else number)(digits if "_" not in digits else "")
    except ValueError as error:
        told = str(error) if number is not None and str(error).startswith("got") else ""
        advice = f"; {told}" if told else as_number(digits).replace("write ", f"write {sign}").partition(", or")[0]
        raise ValueError(f"a bound must be < or > and a number, such as <0.05, got {text.strip()!r}{advice}") from None
    if limit is None or not math.isfinite(limit):
        raise ValueError(f"a bound must be < or > and a finite number, such as <0.05, got {text.strip()!r}")
    return value_at_limit(sign, limit)


def to_json(value: float) -> float | str:
    """A value as plain JSON has it: a number, or of one that was told as a bound its text.

    Example:
        >>> to_json(0.05), to_json(value_at_limit("<", 0.05))
        (0.05, '<0.05')
    """
    return repr(value) if isinstance(value, CensoredValue) else value


def from_json(value: Any) -> Any:
    """A value that `to_json` has written; a number, or None, is as it is."""
    return read_bound(value) if isinstance(value, str) else value


def is_bound(value: Any) -> bool:
    """Return whether a recorded value is one of which only a bound is known."""
    return isinstance(value, CensoredValue)


def check_noise(value: Any, sd: float | None, n: int | None = None, of: str = "") -> None:
    """Raise a ValueError where a bound was told with the noise of a value, or as the mean of several."""
    for name, number in ("sd", sd), ("n", n if n != 1 else None):
        if is_bound(value) and number is not None:
            raise ValueError(f"the bound {value}{of} must have no {name}, got {number}; leave it out")
