"""The prediction of one outcome at one point."""

from typing import NamedTuple


class Prediction(NamedTuple):
    """Mean and standard deviation that the surrogate predicts at a point, of the objective or of one new value.

    The mean is within the possible range, where one was said.
    """

    mean: float
    sd: float
