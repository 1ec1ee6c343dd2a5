"""What it is worth to measure a doubtful value again: the expected rise of the best, looking one step ahead.

Either the value is right, or it tells nothing about the objective where it was measured. Another measurement there
would say which. Knowing that, one takes the better of the point and of the best among the others; not knowing, the
better in expectation.

Notation (shapes as broadcast; larger values are better):
    y     value
    p     probability that it is wrong
    mu    what the others predict for the objective there
    sd    standard deviation of that prediction, positive
    B     best posterior mean among the other points

References:
    Howard (1966), Information value theory. The noise of the further measurement is taken to be small against sd.
"""

import torch
from torch import Tensor

from robustbo.numerics.improvement.normal import log_ei

# Log odds of "wrong" for a value that gains g nats by a variance of its own: a logistic regression on 480 values of
# corrupted loops. A prediction by fitted hyperparameters is too sure of itself, so the slope is far below 1.
LOG_ODDS, SLOPE = -2.6, 0.19


def chance_of_error(g: Tensor) -> Tensor:
    """The probability that a value is wrong, given the nats it gains by a variance of its own."""
    return torch.sigmoid(LOG_ODDS + SLOPE * g)


def value_of_repeating(y: Tensor, p: Tensor, mu: Tensor, sd: Tensor, B: Tensor) -> Tensor:
    """(1 - p) max(B, y) + p E max(B, f) - max(B, (1 - p) y + p mu), with f normal.

    It is zero where nothing that could come out would change which point is the best, and never negative.

    Example:
        >>> from torch import tensor
        >>> y, p, mu, sd, B = (tensor(x, dtype=torch.float64) for x in (5.0, 0.5, 1.0, 1e-3, 2.0))
        >>> round(value_of_repeating(y, p, mu, sd, B).item(), 6)  # not knowing, 3; knowing, 5 or 2
        0.5
    """
    best_if_wrong = B + expected_improvement(mu, sd, B)
    knowing = (1 - p) * torch.maximum(B, y) + p * best_if_wrong
    return (knowing - torch.maximum(B, (1 - p) * y + p * mu)).clamp_min(0)


def expected_improvement(mu: Tensor, sd: Tensor, B: Tensor) -> Tensor:
    """E (f - B)_+ for a normal f."""
    return sd * log_ei((mu - B) / sd).exp()
