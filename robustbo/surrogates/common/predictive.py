"""The distribution of a measurement whose noise is not normal, in the outcome's units."""

from dataclasses import dataclass
from typing import Any

from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

from robustbo.surrogates.common.units import log_density_in_outcome_units


@dataclass(frozen=True)
class PredictiveDistribution:
    """The distribution of a measurement at each of ``...`` points; a subclass has the noise and the density.

    Attributes:
        mean: Of the latent value, in the model's own (transformed) units.
        variance: Of the latent value, likewise.
        noise: The parameters of the noise, likewise.
        transform: The outcome transform, or None.
    """

    mean: Tensor
    variance: Tensor
    noise: Any
    transform: OutcomeTransform | None

    def log_density(self, Y: Tensor) -> Tensor:
        """The logarithm of the density of ``...`` measurements in the outcome's units."""
        return log_density_in_outcome_units(self._log_density, self.transform, Y)

    def _log_density(self, y: Tensor) -> Tensor:
        """The logarithm of the density of ``...`` measurements in the model's own units."""
        raise NotImplementedError
