"""The evidence of a Student-t process, as GPyTorch's optimizers take it."""

from typing import Any

from gpytorch.distributions import MultivariateNormal
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from robustbo.numerics.student_t_process.process import log_evidence, shah


class StudentTProcessMarginalLogLikelihood(ExactMarginalLogLikelihood):
    """Log marginal likelihood plus log prior densities, divided by n as in `ExactMarginalLogLikelihood`.

    Args:
        likelihood: A Gaussian likelihood.
        model: Its GP, which has a ``dof``.

    References:
        docs/equations.md section 4, log p(y) in the parameters of Shah and others.
    """

    def forward(self, function_dist: MultivariateNormal, target: Tensor, *params: Any, **kwargs: Any) -> Tensor:
        """The evidence of ``n`` targets under a prior of their latent values."""
        measured, nu, n = self.likelihood(function_dist, *params), self.model.dof, target.shape[-1]
        residual = (target - measured.mean).unsqueeze(-1)
        beta, log_det = measured.lazy_covariance_matrix.inv_quad_logdet(residual, logdet=True)
        return self._add_other_terms(log_evidence(beta, log_det, n, shah(nu)), params).div(n)
