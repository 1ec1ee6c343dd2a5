"""Predictions of several Gaussian process experts made into one.

Notation (shapes after any leading batch dimensions):
    mu     M x m  latent means of M experts at m points, less the prior's
    v      M x m  latent variances
    v0     m      prior variances
    beta   M x m  how much each expert counts
    n             observations of an expert

References:
    Deisenroth and Ng (2015), Distributed Gaussian processes; Mair and Brefeld (2018), Distributed robust Gaussian
    process regression; equations.md section 9.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

LEAST = 1e-12  # of the prior's variance: no expert is surer


class Prediction(NamedTuple):
    """Latent means (less the prior's) and variances."""

    mean: Tensor
    variance: Tensor


def latent(k: Tensor, a: Tensor, R: Tensor, v0: Tensor) -> Prediction:
    """``M x m`` means and variances of the experts, each by itself.

    Args:
        k: ``M x m x n`` prior covariances of the points with each expert's observations.
        a: ``M x n`` representer weights: the mean is k'a.
        R: ``M x n x n``: the variance is v0 - k'R k.
        v0: ``m`` prior variances.
    """
    v = v0.unsqueeze(-2) - (k @ R * k).sum(-1)
    return Prediction((k @ a.unsqueeze(-1)).squeeze(-1), v.maximum(LEAST * v0.unsqueeze(-2)))


def entropy_weights(v: Tensor, v0: Tensor) -> Tensor:
    """Half the difference of differential entropies of prior and posterior, at least 0.

    With signed curvatures an expert can be less sure than the prior; it does not count then.
    """
    return (0.5 * (v0.unsqueeze(-2).log() - v.log())).clamp_min(0.0)


def _combined(beta: Tensor, mu: Tensor, v: Tensor, v0: Tensor, is_prior_shared: bool) -> Prediction:
    """Precisions add up; where nobody knows anything the prior stays."""
    precision = (beta / v).sum(-2)
    if is_prior_shared:
        precision = precision + (1 - beta.sum(-2)) / v0
    is_silent = (beta == 0).all(-2)
    precision = torch.where(is_silent, 1 / v0, precision)
    return Prediction((beta * mu / v).sum(-2) / precision, 1 / precision)


def product(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """Product of experts: surer with every expert, even far from all data."""
    return _combined(torch.ones_like(v), mu, v, v0, False)


def generalized_product(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """Generalized product of experts with the weights 1 / M."""
    return _combined(torch.full_like(v, 1 / v.shape[-2]), mu, v, v0, False)


def entropy_product(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """Generalized product of experts with entropy weights."""
    return _combined(entropy_weights(v, v0), mu, v, v0, False)


def normalized_entropy_product(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """The same with weights that add up to 1."""
    beta = entropy_weights(v, v0)
    total = beta.sum(-2, keepdim=True)
    is_silent = total == 0
    share = beta / total.masked_fill(is_silent, 1.0)
    return _combined(share, mu, v, v0, False)


def committee(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """Bayesian committee machine: the prior counts once, not once an expert."""
    return _combined(torch.ones_like(v), mu, v, v0, True)


def robust_committee(mu: Tensor, v: Tensor, v0: Tensor) -> Prediction:
    """Robust Bayesian committee machine: entropy weights, and the prior for the rest."""
    return _combined(entropy_weights(v, v0), mu, v, v0, True)


def correlation(C: Tensor) -> Tensor:
    """``... x q x q`` correlations of covariances."""
    sd = C.diagonal(dim1=-2, dim2=-1).clamp_min(torch.finfo(C.dtype).tiny).sqrt()
    return C / sd.unsqueeze(-1) / sd.unsqueeze(-2)


COMBINE: dict[str, Callable[[Tensor, Tensor, Tensor], Prediction]] = {
    "poe": product,
    "gpoe": generalized_product,
    "entropy-gpoe": entropy_product,
    "normalized-entropy-gpoe": normalized_entropy_product,
    "bcm": committee,
    "rbcm": robust_committee,
}
