"""The digits of a value that count: Ax's storage drops the last, and a client that was loaded is to go on alike."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from robustbo.errors import NumericsWarning, warn
from robustbo.foreign.frame_json import DECIMALS, number_in_json
from robustbo.loop.observations.units import center_and_scale

DIGITS = 10
COARSE = 1e-5  # a typical difference of values of which storage leaves five digits


def round_to_storage(values: Iterable[float], *, is_stored: bool = True) -> NDArray[np.float64]:
    """Round as Ax's JSON does, then to `DIGITS`: what was saved could else lie beyond a tie.

    Args:
        values: Any number.
        is_stored: Whether the JSON keeps what tells the values of a metric apart (`is_kept`); if not, its decimals are
            not counted.
    """
    in_json = (number_in_json(value) if is_stored else value for value in values)
    return np.array([float(f"{value:.{DIGITS}g}") for value in in_json])


def is_kept(metric: str, values: Iterable[float]) -> bool:
    """Return whether the JSON of an Ax client keeps what tells the values of a metric apart; warn if not.

    Args:
        metric: Its name.
        values: All of them.
    """
    finite = tuple(value for value in values if math.isfinite(value))
    if not finite or center_and_scale(finite)[1] >= COARSE:
        return True
    warn(
        f"values of metric {metric!r} differ by less than {COARSE:g}, and Ax saves {DECIMALS} decimals of a value: "
        "they count in full now, but will not in a client that was saved and loaded; use a smaller unit",
        NumericsWarning,
    )
    return False
