"""A value that stands at many points: the objective is flat there, which says nothing of the noise elsewhere.

Scores of few cases, of decision trees or of whatever a parameter does not touch are the same at many points, to the
last digit. A process whose noise is as small as these are alike takes all others for errors. Are they, or is the
objective flat in a part of the space? Errors are rare.

References:
    docs/equations.md section 6.
"""

from typing import NamedTuple

import torch
from scipy.special import betaln
from torch import Tensor

from robustbo.numerics.gp.replicates import FEW, number_values

STRENGTH = 10.0  # of the Beta prior of the rate of errors, in values
WIDTH = 0.3  # standard deviation of the value of a plateau, as a part of what most others are away from it
SHARE = 1 / 3  # of the points, at which the value of a plateau must stand; more than half have a value that recurs


class Plateau(NamedTuple):
    """The observations of the value that stands at the most points.

    Attributes:
        is_on: ``n`` booleans.
        value: The value.
        variance: By which the process may differ from it, at its points.
    """

    is_on: Tensor
    value: Tensor
    variance: Tensor


def find_plateau(X: Tensor, y: Tensor, rate: float) -> Plateau | None:
    """Find the value that stands at the most points, if so many others are not errors; None where there is none.

    It stands at a third of the points, and most points have a value that recurs.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes.
        rate: The prior probability that a value is wrong.

    References:
        docs/equations.md (6.23), (6.24).

    Example:
        >>> x = torch.linspace(0, 1, 10, dtype=torch.float64)
        >>> plateau = find_plateau(x.unsqueeze(-1), x.clamp_min(0.6), 0.1)
        >>> plateau.value.item(), int(plateau.is_on.sum())
        (0.6, 6)
        >>> find_plateau(x.unsqueeze(-1), x, 0.1) is None
        True
    """
    place, number = X.unique(dim=0, return_inverse=True)[1], number_values(y)
    at = torch.stack([number, place], -1).unique(dim=0)[:, 0].bincount()  # points at which each value stands
    m, most = int(place.max()) + 1, int(at.max())
    if 2 * int(at[at >= FEW].sum()) <= m or most < SHARE * m or most >= m or _are_errors(m, m - most, rate):
        return None
    is_on = number == at.argmax()
    value = y[is_on][0]
    return Plateau(is_on, value, (WIDTH * (y[~is_on] - value).abs().median()).square())  # eq. 6.24


def _are_errors(m: int, k: int, rate: float) -> bool:
    """Return whether k values of m are so few that they are more probably errors than right."""
    a, b = STRENGTH * rate, STRENGTH * (1 - rate)
    wrong = betaln(a + k, b + m - k) - betaln(a, b)
    return bool(wrong >= betaln(1 + k, 1 + m - k))  # eq. 6.23
