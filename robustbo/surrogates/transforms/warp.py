"""Outcomes robustly standardized, then warped by a monotone function, and posteriors warped back."""

from botorch.posteriors import GPyTorchPosterior, Posterior
from gpytorch.distributions import MultivariateNormal
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


class WarpedStandardize(RobustStandardize):
    """warp((Y - median) / scale), scaled as by `RobustStandardize`; a subclass has the function.

    The inverse is exact for values. A normal distribution becomes, by a first-order expansion about its mean (which
    becomes the median), a normal distribution again.
    """

    def warp(self, z: Tensor) -> Tensor:
        """Standardized outcomes as the model sees them."""
        raise NotImplementedError

    def unwarp(self, u: Tensor) -> Tensor:
        """Invert `warp`."""
        raise NotImplementedError

    def stretch(self, u: Tensor) -> Tensor:
        """The derivative of `unwarp`."""
        raise NotImplementedError

    def variance_stretch(self, z: Tensor) -> Tensor:
        """The square of `stretch` at ``warp(z)``."""
        return self.stretch(self.warp(z)).square()

    def forward(self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Transform outcomes; in training mode, learn from them first.

        Args:
            Y: ``batch x n x m`` outcomes.
            Yvar: ``batch x n x m`` noise variances.
            X: Not used.
        """
        z, z_var = super().forward(Y, Yvar, X)
        return self.warp(z), None if z_var is None else z_var / self.variance_stretch(z)

    def untransform(
        self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Outcomes, and noise variances to first order, as they were before.

        Args:
            Y: ``batch x n x m`` transformed outcomes.
            Yvar: ``batch x n x m`` noise variances of these.
            X: Not used.
        """
        return super().untransform(self.unwarp(Y), None if Yvar is None else Yvar * self.stretch(Y).square(), X)

    def untransform_posterior(self, posterior: Posterior, X: Tensor | None = None) -> GPyTorchPosterior:
        """The posterior of the outcomes, to first order.

        Args:
            posterior: Of the transformed outcomes, one outcome.
            X: Not used.
        """
        normal = posterior.distribution
        slope = DiagLinearOperator(self.stdvs.squeeze(-1) * self.stretch(normal.mean))
        mean, _ = self.untransform(normal.mean.unsqueeze(-1))
        covariance = slope @ normal.lazy_covariance_matrix @ slope
        return GPyTorchPosterior(MultivariateNormal(mean.squeeze(-1), covariance))
