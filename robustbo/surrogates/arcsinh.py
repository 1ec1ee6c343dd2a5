"""Outcomes as a Gaussian process likes them: robustly standardized, then through the inverse hyperbolic sine.

The values of an objective are often skewed: most are poor, a few are good, and the best stands alone. A stationary
process takes such a value for an outlier. The inverse hyperbolic sine is the identity near zero and a logarithm far
out, on both sides, so that a peak of ten standard deviations becomes one of three, and one of 1e12 still stands out.
"""

from botorch.posteriors import GPyTorchPosterior, Posterior
from gpytorch.distributions import MultivariateNormal
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.surrogates.robust_standardize import RobustStandardize


class RobustArcsinh(RobustStandardize):
    """asinh((Y - median) / scale), as by `RobustStandardize`.

    The way back is exact for values. A normal distribution becomes, by a first-order expansion about its mean (which
    becomes the median), a normal distribution again.

    References:
        Burbidge, Magee and Robb (1988), Alternative transformations to handle extreme values of the dependent variable.

    Example:
        >>> import torch
        >>> Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e9]], dtype=torch.float64)
        >>> RobustArcsinh(m=1)(Y)[0].max() < 25
        tensor(True)
    """

    def forward(self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Transform outcomes; in training mode, learn center and scale from them first.

        Args:
            Y: ``batch x n x m`` outcomes.
            Yvar: ``batch x n x m`` noise variances.
            X: Not used.
        """
        z, z_var = super().forward(Y, Yvar, X)
        return z.asinh(), None if z_var is None else z_var / (1 + z.square())

    def untransform(
        self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Outcomes, and noise variances to first order, as they were before.

        Args:
            Y: ``batch x n x m`` transformed outcomes.
            Yvar: ``batch x n x m`` noise variances of these.
            X: Not used.
        """
        return super().untransform(Y.sinh(), None if Yvar is None else Yvar * Y.cosh().square(), X)

    def untransform_posterior(self, posterior: Posterior, X: Tensor | None = None) -> GPyTorchPosterior:
        """The posterior of the outcomes, to first order.

        Args:
            posterior: Of the transformed outcomes, one outcome.
            X: Not used.
        """
        normal = posterior.distribution
        slope = DiagLinearOperator(self.stdvs.squeeze(-1) * normal.mean.cosh())
        mean, _ = self.untransform(normal.mean.unsqueeze(-1))
        covariance = slope @ normal.lazy_covariance_matrix @ slope
        return GPyTorchPosterior(MultivariateNormal(mean.squeeze(-1), covariance))
