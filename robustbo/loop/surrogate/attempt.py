"""Attempts that may fail by an error of numbers, or whatever our own mathematics raises, and are gone on without.

An internal check that fails is a mistake of ours. It must not end a study: a simpler way is taken, and what could not
be done is said. A mistake in somebody's own model is theirs to see.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

import torch
from linear_operator.utils.errors import NanError, NotPSDError

from robustbo.determinism.interrupted import Released
from robustbo.errors import FitError, NumericalError, RobustBOError
from robustbo.surrogates.registry import SURROGATES

log = logging.getLogger("robustbo")
T = TypeVar("T")

NUMERICAL = (FitError, NumericalError, ArithmeticError, torch.linalg.LinAlgError, NanError, NotPSDError)
LONGEST = 200  # letters of a reason


def attempt(make: Callable[[], T], *surrogates: str) -> tuple[T | None, str | None]:
    """Return what is made, or None and why it could not be.

    An interrupt goes through, and so does what `is_survivable` says is somebody else's to see.

    Args:
        make: It; its own result may be None.
        surrogates: The names of the surrogates that it uses.

    Example:
        >>> attempt(lambda: 1), attempt(lambda: 1 // 0)
        ((1, None), (None, 'ZeroDivisionError: integer division or modulo by zero'))
    """
    try:
        with Released():  # what an interrupt was made into looks like an error in the numbers
            return make(), None
    except Exception as error:
        if not is_survivable(error, *surrogates):
            raise
        log.debug("an error is gone on after", exc_info=True)
        return None, describe_error(error)


def is_survivable(error: Exception, *surrogates: str) -> bool:
    """Return whether a simpler way may be tried after an error: one of numbers, or any of our own mathematics.

    What is said on purpose is no such error (an exhausted space, a journal that cannot be written), nor is a warning
    that somebody has made an error.

    Args:
        error: The error.
        surrogates: The names of the surrogates that were used; in a model of somebody's own only numbers may fail.
    """
    if isinstance(error, NUMERICAL):
        return True
    is_said = isinstance(error, RobustBOError) and not isinstance(error, ValueError)
    return not is_said and not isinstance(error, Warning) and all(name in SURROGATES for name in surrogates)


def describe_error(error: BaseException) -> str:
    """An error in a line."""
    message = str(error).partition("\n")[0][:LONGEST]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
