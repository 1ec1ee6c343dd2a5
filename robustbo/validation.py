"""Checks of the arguments that people pass: what must hold, what came."""

import difflib
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any


def plain_scalar(value: Any) -> Any:
    """A scalar of NumPy or torch, or an array (a pandas Series, a tensor) of one, as Python's own; else as it is.

    One that is masked is None.
    """
    mask: Any = getattr(value, "mask", None)
    if getattr(mask, "ndim", None) is not None and getattr(value, "size", 0) == 1 and mask.any():
        return None
    if getattr(value, "ndim", None) == 0 or (hasattr(value, "ndim") and getattr(value, "size", 0) == 1):
        return value.item()
    return value.item() if callable(getattr(value, "numel", None)) and value.numel() == 1 else value


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """A word out of those that are known.

    Raises:
        ValueError: If it is none of them; the message has the nearest.

    Example:
        >>> one_of("direction", "maximise", ["minimize", "maximize"])
        Traceback (most recent call last):
        ValueError: direction must be one of ['minimize', 'maximize'], got 'maximise'; did you mean 'maximize'?
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    raise ValueError(f"{name} must be one of {words}, got {value!r}{nearest(value, words)}")


def registered(kind: str, name: Any, known: Iterable[str]) -> str:
    """A name out of the many that are registered.

    Args:
        kind: What is called so, in a word.
        name: What should be one of them.
        known: They.

    Raises:
        ValueError: If it is none of them; the message has the nearest, or where none is near all of them.

    Example:
        >>> registered("problem", "hartman6", ["branin", "hartmann6", "levy"])
        Traceback (most recent call last):
        ValueError: there is no problem 'hartman6'; did you mean 'hartmann6'?
    """
    names = list(known)
    if name not in names and (meant := nearest(name, names)):
        raise ValueError(f"there is no {kind} {name!r}{meant}")
    return one_of(kind, name, names)


def nearest(value: Any, words: Iterable[str], written: Callable[[str], str] = str) -> str:
    """A question for the word that was meant, to end a message with; empty where none is near.

    Args:
        value: What came.
        words: What could have.
        written: How the word is written in the question.

    Example:
        >>> nearest("logei", ["LogEI", "qLogNEI"]), nearest(3, ["x"])
        ("; did you mean 'LogEI'?", '')
    """
    lower = {word.lower(): word for word in words}
    near = difflib.get_close_matches(value.lower(), lower, n=1, cutoff=0.5) if isinstance(value, str) else []
    return f"; did you mean {written(lower[near[0]])!r}?" if near else ""


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
        raise TypeError(f"{name} must be a real number, got {value!r}")
    try:
        return float(plain)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a real number, got {value!r}") from error


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


def index(trial: Any) -> int:
    """A trial's number.

    Raises:
        TypeError: If it is not a whole number.
    """
    plain = plain_scalar(trial)
    if isinstance(plain, bool):
        raise TypeError(f"trial must be a Trial or its number, got {trial!r}")
    if isinstance(plain, float) and plain.is_integer():  # as a table has it where a cell of the column is empty
        return int(plain)
    try:
        return operator.index(plain)
    except TypeError:
        raise TypeError(f"trial must be a Trial, its number or a mapping of parameters, got {trial!r}") from None


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least``, and at most ``most``.

    Raises:
        ValueError: If it is none.
    """
    plain = plain_scalar(value)
    if isinstance(plain, bool) or not isinstance(plain, int) or plain < least or (most is not None and plain > most):
        upper = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name} must be a whole number of at least {least}{upper}, got {value!r}")
    return plain
