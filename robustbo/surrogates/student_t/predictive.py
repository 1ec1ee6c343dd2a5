"""The heavy-tailed distribution of a measurement, in the outcome's units."""

from dataclasses import dataclass

from torch import Tensor

from robustbo.numerics.student_t import predictive
from robustbo.numerics.student_t.laplace import Noise
from robustbo.surrogates.common.predictive import PredictiveDistribution


@dataclass(frozen=True)
class StudentTPredictive(PredictiveDistribution):
    """The distribution of a measurement with Student-t noise at each of ``...`` points."""

    noise: Noise

    def cdf(self, Y: Tensor) -> Tensor:
        """The probability of a measurement of at most ``...`` values in the outcome's units."""
        return predictive.log_cdf(self._inside(Y), self.mean, self.variance, self.noise).exp()

    def _log_density(self, y: Tensor) -> Tensor:
        return predictive.log_density(y, self.mean, self.variance, self.noise)

    def _inside(self, Y: Tensor) -> Tensor:
        return Y if self.transform is None else self.transform(Y.unsqueeze(-1))[0].squeeze(-1)
