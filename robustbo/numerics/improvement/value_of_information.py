"""Value of a replicate: the expected rise of the best, looking one step ahead.

The objective there is one of the values measured there, or, if all of them are wrong, what the others predict. Another
measurement would say which. Knowing that, one takes the better of the point and of the best among the others; not
knowing, the better in expectation if the point is believed, and the best among the others if it is not.

A value that no other predicts may be wrong, or the point's own effect (a needle): nothing but another measurement
tells them apart. So no value is so surely wrong that its share is zero, and a needle that would win much is what is
worth knowing first.

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

from robustbo.numerics.gp.wrong_density import NEEDLE
from robustbo.numerics.improvement.normal import log_ei


def shares(p: Tensor) -> Tensor:
    """``... x k`` probabilities that the objective is each of k values, which are wrong with p; alike ones share.

    Each has at least the odds `NEEDLE` against that all are wrong, since it may be what the objective does there alone.

    Example:
        >>> shares(torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.5, 0.5]]).double()).round(decimals=3).tolist()
        [[0.019, 0.019], [0.0, 1.0], [0.5, 0.5]]
    """
    right = 1 - p
    likely = right / right.sum(-1, keepdim=True).clamp_min(1)
    none = (1 - likely.sum(-1, keepdim=True)).clamp_min(0)
    w = torch.maximum(likely, NEEDLE * none)
    return w / (w.sum(-1, keepdim=True) + none)  # eq. 16.7


def value_of_replicate(y: Tensor, w: Tensor, mu: Tensor, sd: Tensor, B: Tensor, *, is_believed: bool = True) -> Tensor:
    """E max(B, f) - max(B, E f), with f each of the values or normal; E max(B, f) - B where no value is believed.

    It is zero where nothing that could come out would change which point is the best, and never negative.

    Args:
        y, w, mu, sd, B: See the notation.
        is_believed: Whether a value at the point is, so that it may be taken as it is.

    Example:
        >>> from torch import tensor
        >>> y, w, mu, sd, B = (tensor(x, dtype=torch.float64) for x in ([5.0], [0.5], 1.0, 1e-3, 2.0))
        >>> round(value_of_replicate(y, w, mu, sd, B).item(), 6)  # not knowing, 3; knowing, 5 or 2
        0.5
        >>> round(value_of_replicate(y, w, mu, sd, B, is_believed=False).item(), 6)  # not knowing, 2
        1.5
    """
    w0 = (1 - w.sum(-1)).clamp_min(0)
    best_if_wrong = B + expected_improvement(mu, sd, B)
    knowing = (w * torch.maximum(B.unsqueeze(-1), y)).sum(-1) + w0 * best_if_wrong
    not_knowing = torch.maximum(B, (w * y).sum(-1) + w0 * mu) if is_believed else B
    return (knowing - not_knowing).clamp_min(0)  # eq. 16.8


def expected_improvement(mu: Tensor, sd: Tensor, B: Tensor) -> Tensor:
    """E (f - B)_+ for a normal f."""
    return sd * log_ei((mu - B) / sd).exp()
