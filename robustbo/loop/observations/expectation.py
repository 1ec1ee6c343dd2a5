"""A surrogate's appraisal of a value, and how surprising the value is."""

from typing import NamedTuple

import torch

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.improvement.wrong import deviations

Expectation = tuple[float, float]  # what is expected, and its standard deviation, noise included


class Appraisal(NamedTuple):
    """A surrogate's appraisal of a measured value.

    Attributes:
        expected: What the other values predict.
        sd: Standard deviation of that, noise included.
        evidence: Nats against it.
        is_outlier: Whether it is treated as one.
        weight: How much it counts, where the surrogate weighs values.
        wrong: The probability that it is wrong, where the surrogate has one.
    """

    expected: float
    sd: float
    evidence: float
    is_outlier: bool
    weight: float | None = None
    wrong: float | None = None


def surprise(value: float, expected: float, sd: float) -> float:
    """Nats that a value gains by a variance of its own, given what was expected of it.

    Example:
        >>> surprise(2.0, 2.5, 1.0), round(surprise(-2.5, 2.5, 1.0), 2)
        (0.0, 10.39)
    """
    off = torch.tensor(deviations(value - expected, sd), dtype=torch.float64)
    return gain(off, torch.ones_like(off)).item()
