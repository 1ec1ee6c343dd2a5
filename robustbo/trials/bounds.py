"""Texts such as "0 <= yield <= 100": a name, with a number on one side of it or on both."""

import math
import re
from typing import Any

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
BOUNDS = re.compile(rf"\s*(?:({NUMBER})\s*(<=|>=)\s*)?([^<>=]*?)\s*(?:(<=|>=)\s*({NUMBER})\s*)?")


def read_bounds(what: str, form: str, examples: str, text: Any) -> tuple[str, float, float]:
    """The name in a text, and the least and the greatest value that it allows: infinite where it says none.

    Args:
        what: The text is, for errors.
        form: It must have.
        examples: Of it.
        text: The text.

    Raises:
        ValueError, TypeError: If it cannot be read.

    Example:
        >>> read_bounds("a range", "LOW <= NAME <= HIGH", "such as '6 <= pH <= 8'", "0.95<=purity")
        ('purity', 0.95, inf)
    """
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a text, {examples}, got {text!r}")
    match = BOUNDS.fullmatch(text)
    if match is None or not match[3]:
        hint = "; < and > are written <= and >=" if re.search("<(?!=)|>(?!=)|=[<>]", text) else ""
        raise ValueError(f"{what} must be {form}, {examples}, got {text!r}{hint}")
    bounds = {"low": -math.inf, "high": math.inf}
    left, right = ("low" if match[2] == "<=" else "high"), ("high" if match[4] == "<=" else "low")
    if match[1] is not None:
        bounds[left] = float(match[1])
    if match[5] is not None:
        if match[1] is not None and right == left:
            raise ValueError(f"{what} must have its name between its bounds, {examples}, got {text!r}")
        bounds[right] = float(match[5])
    if any(math.isinf(float(number)) for number in (match[1], match[5]) if number is not None):
        raise ValueError(f"the bound of {what} must be finite, got {text!r}")
    return match[3], bounds["low"], bounds["high"]


def check_name(name: Any) -> str:
    """The name of an outcome, without spaces around it.

    Raises:
        ValueError: If it is none, or such texts could not have it.
    """
    if not isinstance(name, str) or not name.strip() or set(name) & set("<>=\n") or name.strip()[0] in "+-":
        text = "an outcome must have a name, a text without <, > and = that begins with no sign"
        raise ValueError(f"{text}, got {name!r}")
    return name.strip()
