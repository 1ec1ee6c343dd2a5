"""A value that stands at many points: the objective is flat there, which says nothing of the noise elsewhere.

Scores of few cases, of decision trees or of whatever a parameter does not touch are the same at many points, to the
last digit. A process whose noise is as small as these are alike takes all others for errors. Are they, or is the
objective flat in a part of the space? Errors are rare.

References:
    docs/equations.md section 6.
"""

import torch
from scipy.special import betaln
from torch import Tensor

from robustbo.numerics.gp.replicates import FEW, count_points

STRENGTH = 10.0  # of the Beta prior of the rate of errors, in values
SHARE = 1 / 3  # of the points, at which the value of a plateau must stand; more than half have a value that recurs
NEAR = 0.25  # share of the other values that are nearest to it: three of four of these may be gross errors
FAR = 10.0  # scales of the values from their center, beyond which a value that recurs is a failure's code
WIDTH = 0.3  # standard deviation of the value of a plateau, as a part of how far these are away from it


def plateau_variances(X: Tensor, y: Tensor, rate: float) -> Tensor | None:
    """Variances by which the process may differ from a plateau: from the value that stands at the most points.

    It stands at a third of the points, most points have a value that recurs, it does not lie far out, and others are
    not so few that they are more probably errors.

    Args:
        X: ``n x d`` inputs.
        y: ``n`` outcomes, standardized.
        rate: The prior probability that a value is wrong.

    Returns:
        ``n`` variances, 0 at all other values; None where there is no plateau.

    References:
        docs/equations.md (6.23), (6.24).

    Example:
        >>> x = torch.linspace(0, 1, 10, dtype=torch.float64)
        >>> (plateau_variances(x.unsqueeze(-1), x.clamp_min(0.6), 0.1) > 0).sum()
        tensor(6)
        >>> plateau_variances(x.unsqueeze(-1), x, 0.1) is None
        True
    """
    if (counts := count_points(X, y)) is None:
        return None
    number, points, m = counts
    most = int(points.max())
    if 2 * int(points[points >= FEW].sum()) <= m or most < SHARE * m or most >= m or _are_errors(m, m - most, rate):
        return None
    is_on = number == points.argmax()
    value = y[is_on][0]
    if value.abs() > FAR:
        return None
    away = (y[~is_on] - value).abs().sort().values
    return torch.where(is_on, (WIDTH * away[int(NEAR * (len(away) - 1))]).square(), 0.0)  # eq. 6.24


def _are_errors(m: int, k: int, rate: float) -> bool:
    """Return whether k values of m are so few that they are more probably errors than right."""
    a, b = STRENGTH * rate, STRENGTH * (1 - rate)
    wrong = betaln(a + k, b + m - k) - betaln(a, b)
    return bool(wrong >= betaln(1 + k, 1 + m - k))  # eq. 6.23
