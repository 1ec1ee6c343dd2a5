"""Texts such as "0 <= yield <= 100": a name, with a number on one side of it or on both."""

import math
import re
from typing import Any

from robustbo import limits

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
SIGN = re.compile("(<=|>=)")
ARITHMETIC = re.compile(r"[+*^]|\s[-/]\s")  # "log-loss" and "C/N" are names


def read_bounds(subject: str, form: str, examples: str, text: Any) -> tuple[str, float, float]:
    """The name in a text, and the least and the greatest value that it allows: infinite where it says none.

    Args:
        subject: What the text is, for errors.
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
        raise TypeError(f"{subject} must be a text, {examples}, got {text!r}")
    if len(text) > (most := limits.OUTCOME_CONSTRAINT_CHARACTERS):
        raise ValueError(f"{subject} must have at most {most} characters, got {len(text)}")
    left_number, left_sign, name, right_sign, right_number = _split_sides(text)
    if not name:
        hint = "; < and > are written <= and >=" if re.search("<(?!=)|>(?!=)|=[<>]", text) else ""
        raise ValueError(f"{subject} must be {form}, {examples}, got {text!r}{hint}")
    bounds = {"low": -math.inf, "high": math.inf}
    left, right = ("low" if left_sign == "<=" else "high"), ("high" if right_sign == "<=" else "low")
    if left_number:
        bounds[left] = float(left_number)
    if right_number:
        if left_number and right == left:
            raise ValueError(f"{subject} must have its name between its bounds, {examples}, got {text!r}")
        bounds[right] = float(right_number)
    if any(math.isinf(float(number)) for number in (left_number, right_number) if number):
        raise ValueError(f"the bound of {subject} must be finite, got {text!r}")
    return name, bounds["low"], bounds["high"]


def _split_sides(text: str) -> tuple[str, str, str, str, str]:
    """The number and the sign left of a name, the name, the sign and the number right of it; no name if it is none."""
    parts = [part.strip() for part in SIGN.split(text)]
    if len(parts) == 3:
        parts = [*parts, "", ""] if NUMBER.fullmatch(parts[0]) else ["", "", *parts]
    elif len(parts) == 1:
        parts = ["", "", *parts, "", ""]
    is_right = len(parts) == 5 and all(not part or NUMBER.fullmatch(part) for part in (parts[0], parts[4]))
    is_right = is_right and all(bool(parts[i]) == bool(parts[j]) for i, j in ((0, 1), (3, 4)))
    if not is_right or set(parts[2]) & set("<>="):
        return "", "", "", "", ""
    return parts[0], parts[1], parts[2], parts[3], parts[4]


def is_arithmetic(name: str) -> bool:
    """Return whether the text in place of a name looks like arithmetic, such as "a + b" or "2*a"."""
    return ARITHMETIC.search(name) is not None


def check_name(name: Any) -> str:
    """The name of an outcome, without spaces around it.

    Raises:
        ValueError: If it is none, or such texts could not have it.
    """
    if not isinstance(name, str) or not name.strip() or set(name) & set("<>=\n") or name.strip()[0] in "+-":
        text = "an outcome must have a name, a text without <, > and = that begins with no sign"
        raise ValueError(f"{text}, got {name!r}")
    return name.strip()
