"""The share of a function's variation that goes with each of its inputs, interactions included.

Notation: f at m independent points; ``g[j]`` at the same points, each with the input j of another point.
"""

import torch
from torch import Tensor


def total_effects(f: Tensor, g: Tensor) -> Tensor:
    """Total effects of inputs, by Jansen's estimator.

    Args:
        f: ``... x m`` values at points.
        g: ``... x d x m`` values at the points with one input exchanged; NaN where that is no point.

    Returns:
        ``... x d`` shares of the variance, 0 where f does not vary, or no point is left. Of an additive function they
        add up to 1, else to more. Their standard error is about (2 / m)^(1/2) of each.

    References:
        docs/equations.md, (23.1); M. J. W. Jansen (1999), Analysis of variance designs for model output.
    """
    is_point = g.isfinite()
    squares = torch.where(is_point, f.unsqueeze(-2) - torch.where(is_point, g, 0.0), 0.0).square()
    half_mean = squares.sum(-1) / (2 * is_point.sum(-1).clamp_min(1))
    variance = f.var(-1, correction=0).unsqueeze(-1)
    varies = variance > 0
    return torch.where(varies, half_mean / torch.where(varies, variance, 1.0), 0.0)  # eq. 23.1
