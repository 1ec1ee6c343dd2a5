"""The prediction of one outcome at one point."""

from typing import NamedTuple


class Prediction(NamedTuple):
    """Mean and standard deviation that the surrogate predicts of the objective at a point, without noise.

    The mean is within the possible range, where one was said.
    """

    mean: float
    sd: float
