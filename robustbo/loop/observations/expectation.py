"""A surrogate's appraisal of a value, and how surprising the value is."""

import math
from typing import NamedTuple

import torch

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.wrong_density import deviations
from robustbo.numerics.improvement.wrong import NOISE_DOF
from robustbo.trials.trial import Trial

NOISE = 0.5  # share of the noise in the variance of a prediction, where an old journal does not tell


class Expectation(NamedTuple):
    """Expectation of a value that will be told.

    Attributes:
        mean: The value.
        sd: Standard deviation of that, noise included.
        noise: Standard deviation of the noise in it; None where that is not known, as in old journals.
        noise_dof: Degrees of freedom with which that is known.
    """

    mean: float
    sd: float
    noise: float | None = None
    noise_dof: float = NOISE_DOF

    @property
    def latent_sd(self) -> float:
        """Standard deviation of what is expected of the objective."""
        noise = self.noise_sd
        if self.noise is None:
            return noise
        return math.sqrt(max(self.sd - noise, 0.0)) * math.sqrt(self.sd + noise)  # whose squares may be no numbers

    @property
    def noise_sd(self) -> float:
        """Standard deviation of the noise, by the `NOISE` share of the variance where that is not known."""
        return math.sqrt(NOISE) * self.sd if self.noise is None else min(self.noise, self.sd)


def expectation_of(trial: Trial) -> Expectation | None:
    """Expectation of the model that asked for a trial; None where it had none."""
    if trial.expected is None or trial.expected_sd is None:
        return None
    return Expectation(trial.expected, trial.expected_sd, trial.expected_noise)


def expectations_of(trial: Trial) -> dict[str, Expectation]:
    """Expectations of each of several outcomes, as far as there were any."""
    expectations = {name: expectation_of(trial.of(name)) for name in trial.outcomes}
    return {name: expectation for name, expectation in expectations.items() if expectation is not None}


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
