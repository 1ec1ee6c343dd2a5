"""The heavy-tailed distribution of a measurement, in the outcome's units."""

from typing import NamedTuple

from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

from robustbo.numerics.student_t import predictive
from robustbo.numerics.student_t.laplace import Noise
from robustbo.surrogates.common.units import log_density_in_outcome_units


class Predictive(NamedTuple):
    """The heavy-tailed distribution of a measurement at each of ``...`` points.

    Attributes:
        mean: Of the latent value, in the model's own (transformed) units.
        variance: Of the latent value, likewise.
        noise: The Student-t likelihood's parameters, likewise.
        transform: The outcome transform, or None.
    """

    mean: Tensor
    variance: Tensor
    noise: Noise
    transform: OutcomeTransform | None

    def log_density(self, Y: Tensor) -> Tensor:
        """The logarithm of the density of ``...`` measurements in the outcome's units."""
        return log_density_in_outcome_units(self._log_density, self.transform, Y)

    def cdf(self, Y: Tensor) -> Tensor:
        """The probability of a measurement of at most ``...`` values in the outcome's units."""
        return predictive.log_cdf(self._inside(Y), self.mean, self.variance, self.noise).exp()

    def _log_density(self, y: Tensor) -> Tensor:
        return predictive.log_density(y, self.mean, self.variance, self.noise)

    def _inside(self, Y: Tensor) -> Tensor:
        return Y if self.transform is None else self.transform(Y.unsqueeze(-1))[0].squeeze(-1)
