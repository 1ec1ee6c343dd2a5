"""Value of a replicate: the expected rise of the best, looking one step ahead.

The objective there is one of the values measured there, or, if all of them are wrong, what the others predict. Another
measurement would say which. Knowing that, one takes the better of the point and of the best among the others; not
knowing, the better in expectation.

Notation (shapes as broadcast; larger values are better):
    y     ... x k   values measured at the point
    w     ... x k   probability that the objective is that; they add up to 1 at most
    w0              probability that it is none of them
    mu, sd          what the others predict for the objective there; sd is positive
    B               best posterior mean among the other points

References:
    Howard (1966), Information value theory. The noise of the further measurement is taken to be small against sd.
"""

import torch
from torch import Tensor

from robustbo.numerics.improvement.normal import log_ei


def shares(p: Tensor) -> Tensor:
    """``... x k`` probabilities that the objective is each of k values, which are wrong with p; alike ones share."""
    right = 1 - p
    return right / right.sum(-1, keepdim=True).clamp_min(1)  # eq. 16.7


def value_of_replicate(y: Tensor, w: Tensor, mu: Tensor, sd: Tensor, B: Tensor) -> Tensor:
    """E max(B, f) - max(B, E f), with f each of the values or normal.

    It is zero where nothing that could come out would change which point is the best, and never negative.

    Example:
        >>> from torch import tensor
        >>> y, w, mu, sd, B = (tensor(x, dtype=torch.float64) for x in ([5.0], [0.5], 1.0, 1e-3, 2.0))
        >>> round(value_of_replicate(y, w, mu, sd, B).item(), 6)  # not knowing, 3; knowing, 5 or 2
        0.5
    """
    w0 = (1 - w.sum(-1)).clamp_min(0)
    best_if_wrong = B + expected_improvement(mu, sd, B)
    knowing = (w * torch.maximum(B.unsqueeze(-1), y)).sum(-1) + w0 * best_if_wrong
    return (knowing - torch.maximum(B, (w * y).sum(-1) + w0 * mu)).clamp_min(0)  # eq. 16.8


def expected_improvement(mu: Tensor, sd: Tensor, B: Tensor) -> Tensor:
    """E (f - B)_+ for a normal f."""
    return sd * log_ei((mu - B) / sd).exp()
