"""The prediction of one outcome at one point."""

from typing import NamedTuple


class Prediction(NamedTuple):
    """Mean and standard deviation that the surrogate predicts at a point, of the objective or of one new value.

    The mean lies within the outcome's possible range, if it has one.
    """

    mean: float
    sd: float
