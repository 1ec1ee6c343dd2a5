"""Covariance functions of observations that share errors: those of the latent values, and a term of low rank."""

import torch
from torch import Tensor

from robustbo.numerics.gp.covariance import Covariance
from robustbo.numerics.gp.model import Model


def with_shared_errors(model: Model, A: Tensor) -> Model:
    """The model whose observations have shared errors.

    Args:
        model: What stays fixed.
        A: ``n x k`` atoms, each times its prior standard deviation: the covariance is K + A A'.
    """
    if not A.shape[-1]:
        return model
    inner, B = model.covariance, A @ A.mT

    def at(theta: Tensor) -> Covariance:
        covariance = inner.at(theta)
        return covariance._replace(K=torch.add(covariance.K, B))  # eq. 20.2

    def matrices(theta: Tensor) -> Tensor:
        assert inner.matrices is not None
        return inner.matrices(theta) + B

    return model._replace(covariance=inner._replace(at=at, matrices=None if inner.matrices is None else matrices))
