"""Checks of the arguments that people pass: what must hold, what came."""

import difflib
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

MANY = 50  # values that a message lists at most
FIRST = 10  # of more, so many


def plain_scalar(value: Any) -> Any:
    """A scalar of NumPy or torch, or an array (a pandas Series, a tensor) of one, as Python's own; else as it is.

    One that is masked is None.
    """
    mask: Any = getattr(value, "mask", None)
    if getattr(mask, "ndim", None) is not None and getattr(value, "size", 0) == 1 and mask.any():
        return None
    is_one = getattr(value, "ndim", None) == 0 or (hasattr(value, "ndim") and getattr(value, "size", 0) == 1)
    if is_one and callable(getattr(value, "item", None)):  # which a data frame of one cell has not
        return value.item()
    return value.item() if callable(getattr(value, "numel", None)) and value.numel() == 1 else value


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """A word out of those that are known.

    Raises:
        ValueError: If it is none of them; the message has the nearest.

    Example:
        >>> one_of("direction", "maximise", ["minimize", "maximize"])
        Traceback (most recent call last):
        ValueError: direction must be one of ['minimize', 'maximize'], got 'maximise'; did you mean 'maximize'?
    """
    words = list(choices)
    if isinstance(value, str) and value in words:
        return value
    raise ValueError(f"{name} must be one of {short_list(words)}, got {value!r}{nearest(value, words)}")


def name_in_registry(kind: str, name: Any, registry: Iterable[str]) -> str:
    """A name out of the many that are registered.

    Args:
        kind: What is called so, in a word.
        name: What should be one of them.
        registry: The registered names.

    Raises:
        ValueError: If it is none of them; the message has the nearest, or where none is near all of them.

    Example:
        >>> name_in_registry("problem", "hartman6", ["branin", "hartmann6", "levy"])
        Traceback (most recent call last):
        ValueError: there is no problem 'hartman6'; did you mean 'hartmann6'?
    """
    names = list(registry)
    if name not in names and (meant := nearest(name, names)):
        raise ValueError(f"there is no {kind} {name!r}{meant}")
    return one_of(kind, name, names)


def short_list(values: Sequence[Any]) -> str:
    """Values for a message: of many the first few, and how many there are.

    Example:
        >>> short_list(["a", "b"]), short_list(range(1500))
        ("['a', 'b']", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...] (1500 values)')
    """
    if len(values) <= MANY:
        return repr([*values])
    return f"[{', '.join(map(repr, values[:FIRST]))}, ...] ({len(values)} values)"


def nearest(value: Any, words: Iterable[str], written: Callable[[str], str] = str, cutoff: float = 0.5) -> str:
    """A question for the word that was meant, to end a message with; empty where none is near.

    Args:
        value: What came.
        words: What could have.
        written: How the word is written in the question.
        cutoff: How near it must be, as for `near`.

    Example:
        >>> nearest("logei", ["LogEI", "qLogNEI"]), nearest(3, ["x"])
        ("; did you mean 'LogEI'?", '')
    """
    word = near(value, words, cutoff)
    return "" if word is None else f"; did you mean {written(word)!r}?"


def near(value: Any, words: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The word that is nearest to what came; None where none is as near as the cutoff, 1 being the same."""
    lower = {word.lower(): word for word in words}
    close = difflib.get_close_matches(value.lower(), lower, n=1, cutoff=cutoff) if isinstance(value, str) else []
    return lower[close[0]] if close else None


def flag(name: str, value: Any) -> bool:
    """True or False.

    Raises:
        ValueError: If it is neither.
    """
    plain = plain_scalar(value)
    if not isinstance(plain, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return plain


def real(name: str, value: Any) -> float:
    """A real number (NaN and infinities too), from Python, NumPy or torch.

    Raises:
        TypeError: If it is none.
    """
    plain = plain_scalar(value)
    if isinstance(plain, bool | str | bytes | complex) or plain is None:
        raise TypeError(f"{name} must be a real number, got {in_a_line(value)}{as_number(value)}")
    try:
        return float(plain)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a real number, got {in_a_line(value)}{as_number(value)}") from error


def as_number(value: Any) -> str:
    """Advice on how to write a value as a number, to end a message with; empty where there is none.

    Example:
        >>> as_number("3.4"), as_number("3,4"), as_number([3.4, 3.5])
        ('; write 3.4, or float(...) of a text', '; write 3.4, with a decimal point', '; give one number, not several')
    """
    if isinstance(value, str):
        for number, hint in ((value, "or float(...) of a text"), (value.replace(",", ".", 1), "with a decimal point")):
            with suppress(ValueError):
                return f"; write {number.strip()}, {hint}" if math.isfinite(float(number)) else ""
        return ""
    if isinstance(value, bool):
        return f"; write {int(value)}, or float(...) of it"
    if hasattr(value, "columns") and getattr(value, "size", 0) == 1:
        return "; give the number in it, frame.iloc[0, 0]"
    is_array = getattr(value, "ndim", 0) and getattr(value, "size", 1) != 1
    return "; give one number, not several" if is_array or isinstance(value, list | tuple) else ""


def in_a_line(value: Any) -> str:
    """A value on one line: tables and arrays have several."""
    return " ".join(repr(value).split()) if hasattr(value, "shape") else repr(value)


def noise_sd(sd: Any) -> float | None:
    """A noise standard deviation, or None where it is unknown.

    Raises:
        TypeError, ValueError: If it is neither, negative or not finite.
    """
    if sd is None:
        return None
    number = real("sd", sd)
    if not (number >= 0 and math.isfinite(number)):
        raise ValueError(f"sd must be finite and at least 0, got {number}")
    return number


def index(trial: Any, name: str = "trial") -> int:
    """A trial's number.

    Args:
        trial: What should be one.
        name: Of the argument.

    Raises:
        TypeError: If it is not a whole number.
    """
    plain = plain_scalar(trial)
    if isinstance(plain, bool):
        raise TypeError(f"{name} must be a Trial or its number, got {trial!r}")
    if isinstance(plain, float) and plain.is_integer():  # as a table has it where a cell of the column is empty
        return int(plain)
    try:
        return operator.index(plain)
    except TypeError:
        rule = "a Trial, its number or a mapping of parameters" if name == "trial" else "a Trial or its number"
        raise TypeError(f"{name} must be {rule}, got {_no_trial(trial)}") from None


def _no_trial(trial: Any) -> str:
    """The value that came in place of a trial, in words, and advice."""
    if isinstance(trial, str):
        return f"{trial!r}" + (f"; write {int(trial)}, without quotes" if trial.strip().isdecimal() else "")
    if hasattr(trial, "columns"):
        return "a data frame; tell_frame takes a table, and any other call one trial at a time"
    if hasattr(trial, "trial"):  # an outlier, the best, a point of a front
        return f"{type(trial).__name__}; give its .trial"
    if isinstance(trial, list | tuple) or getattr(trial, "ndim", None):
        return (
            f"{len(trial)} things at once, {type(trial).__name__}; give one at a time, a point as {{NAME: VALUE, ...}}"
        )
    return f"{trial!r}"


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least``, and at most ``most``.

    Raises:
        ValueError: If it is none.
    """
    plain = plain_scalar(value)
    if isinstance(plain, bool) or not isinstance(plain, int) or plain < least or (most is not None and plain > most):
        upper = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name} must be a whole number of at least {least}{upper}, got {value!r}")
    return plain
