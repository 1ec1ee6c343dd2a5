"""The digits of a value that count: Ax's storage drops the last, and a client that was loaded is to go on alike."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

DIGITS = 10
DECIMALS = 10  # of a value in the JSON of an Ax client (pandas has so many)


def round_to_storage(values: Iterable[float]) -> NDArray[np.float64]:
    """Round as Ax's JSON does, then to `DIGITS`: what was saved could else lie beyond a tie."""
    return np.array([float(f"{float(f'{value:.{DECIMALS}f}'):.{DIGITS}g}") for value in values])
