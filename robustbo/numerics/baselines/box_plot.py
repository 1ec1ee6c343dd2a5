"""Ends of a box plot's whiskers: the crudest way to say which values lie far from the others.

References:
    Tukey (1977), Exploratory data analysis.
"""

from torch import Tensor

WHISKER = 1.5  # interquartile ranges beyond the quartile


def whiskers(Y: Tensor) -> tuple[Tensor, Tensor]:
    """The ends below and above, ``... x 1 x m``, for ``... x n x m`` values.

    A quartile is a value that was measured, the outer of the two about it, as in Ax.

    Example:
        >>> import torch
        >>> low, high = whiskers(torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0]], dtype=torch.float64))
        >>> low.item(), high.item()
        (-2.0, 6.0)
    """
    first = Y.quantile(0.25, dim=-2, keepdim=True, interpolation="lower")
    third = Y.quantile(0.75, dim=-2, keepdim=True, interpolation="higher")
    reach = WHISKER * (third - first)
    return first - reach, third + reach
