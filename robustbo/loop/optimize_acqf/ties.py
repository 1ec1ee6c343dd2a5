"""Ties, broken by rule: what is worth the same except for rounding is worth the same, and the first of it is taken.

Otherwise the last digits would decide, which are others on another processor.
"""

from torch import Tensor

TIE = 1e-6  # nats of an acquisition function, which no search for its maximum tells apart


def level_ties(values: Tensor, tie: float = TIE) -> Tensor:
    """Values of which those that tie with the greatest are as great.

    Args:
        values: What is compared.
        tie: How much less ties.

    Example:
        >>> import torch
        >>> int(level_ties(torch.tensor([1.0, 2.0 - 1e-9, 2.0], dtype=torch.float64)).argmax())
        1
    """
    greatest = values.max()
    return greatest.where(values >= greatest - tie, values)


def first_of_best(values: Tensor) -> int:
    """The number of the first of the values that tie with the greatest."""
    return int(level_ties(values).argmax())
