"""Measurement noise: an error that every value has, in shares of the problem's spread."""

import numpy as np

from robustbo.tasks.problem import Problem


def noise(problem: Problem, share: float, dof: float | None, generator: np.random.Generator) -> float:
    """The error of one value, in the value's unit.

    Args:
        problem: Its `sample`'s standard deviation is the spread.
        share: The error's scale, in spreads: its standard deviation, where it is Gaussian.
        dof: Degrees of freedom of a Student-t distribution; None for a Gaussian one.
        generator: The trial's own.
    """
    z = generator.standard_normal() if dof is None else generator.standard_t(dof)
    return float(share * problem.sample.std() * z)
