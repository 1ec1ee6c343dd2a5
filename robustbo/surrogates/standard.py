"""The plain GP: what everything robust is measured against."""

from typing import Any

from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import Likelihood
from gpytorch.means import Mean
from gpytorch.module import Module
from torch import Tensor


class StandardGP(SingleTaskGP):
    """BoTorch's `SingleTaskGP` with a Matern-5/2 kernel, ARD, and its dimension-scaled length-scale prior.

    Args:
        train_X: ``n x d`` inputs; all that is not said here is as in `SingleTaskGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.

    Example:
        >>> import torch
        >>> X = torch.rand(10, 2, dtype=torch.float64)
        >>> StandardGP(X, X.sum(-1, keepdim=True)).covar_module.nu
        2.5
    """

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: Likelihood | None = None,
        covar_module: Module | None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | Any = DEFAULT,
        input_transform: InputTransform | None = None,
    ) -> None:
        if covar_module is None:
            d = self.transform_inputs(X=train_X, input_transform=input_transform).shape[-1]
            covar_module = get_covar_module_with_dim_scaled_prior(ard_num_dims=d, use_rbf_kernel=False)
        super().__init__(
            train_X, train_Y, train_Yvar, likelihood, covar_module, mean_module, outcome_transform, input_transform
        )
