"""Readings of a source beside the target at points, and its error, in the user's units."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from robustbo.loop.observations.table import Row
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.linalg.lapack import Array
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.surrogates.transfer.readings import source_readings


class Readings(NamedTuple):
    """Readings of a source at ``q`` points, without noise.

    Attributes:
        mean, sd: Of what it reads.
        error, error_sd: Of that less the objective.
        spread: By how much the objective varies: its prior standard deviation.
    """

    mean: Array
    sd: Array
    error: Array
    error_sd: Array
    spread: float


def readings(fitted: FittedSurrogate, name: str, rows: Sequence[Row] | Sequence[Sequence[float]]) -> Readings | None:
    """Readings of a source at unit-cube rows; None where it says nothing of the target, or has no value.

    Args:
        fitted: A surrogate that has learned from the source.
        name: The source.
        rows: The points.
    """
    fitted = fitted.with_sources
    beside = fitted.observations.beside
    if not isinstance(fitted.model, TransferGP) or beside is None or (place := beside.group_of(name)) is None:
        return None
    with fitted.apart(0), torch.no_grad():
        group, depth = place
        of_model = source_readings(fitted.model, group, fitted.encoded([list(row) for row in rows]), depth)
    if of_model is None:
        return None
    mean, sd = fitted.units.to_user(of_model.mean).numpy(), fitted.units.sd_to_user(of_model.sd).numpy()
    error, error_sd = fitted.units.slope * of_model.error.numpy(), fitted.units.sd_to_user(of_model.error_sd).numpy()
    spread = abs(fitted.units.slope) * of_model.spread
    return Readings(mean, sd, error, error_sd, spread) if math.isfinite(spread) else None
