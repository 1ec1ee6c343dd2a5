"""What a committee predicts at several points.

Means and variances are combined by the rule. A rule says nothing of covariances: the correlations of the prediction are
the mean of those of the experts, each by how much it knows, which is a correlation matrix again.
"""

from collections.abc import Iterator

import torch
from gpytorch.kernels import Kernel
from linear_operator import LinearOperator, to_linear_operator
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.numerics.committee import Experts
from robustbo.numerics.experts import COMBINE, Prediction, correlation, entropy_weights
from robustbo.numerics.shards import Shards

JOINT = 512  # points whose covariance is joint; of more only the variances are given
BLOCK = 2**22  # numbers of a block of covariances: 32 MiB
PRIOR = 1e-6  # weight of the prior's correlations beside those of the experts, where these know nothing


def predict(kernel: Kernel, X: Tensor, shards: Shards, experts: Experts, combine: str) -> tuple[Tensor, LinearOperator]:
    """Mean (less the prior's) and covariance of the latent values at ``... x q x d`` transformed points.

    Args:
        kernel: Of the latent values.
        X: Where.
        shards: The observations.
        experts: What they predict from; one alone predicts as it does.
        combine: A name of `experts.COMBINE`.
    """
    prior, is_joint = kernel(X).to_dense(), X.shape[-2] <= JOINT
    v0 = prior.diagonal(dim1=-2, dim2=-1)
    together, total, found = PRIOR * correlation(prior), prior.new_full((1, 1), PRIOR), []
    for rows in _blocks(X, shards):
        k = kernel(X.unsqueeze(-3), shards.X[rows]).to_dense() * shards.mask[rows].unsqueeze(-2)
        mu, kR = (k @ experts.a[rows].unsqueeze(-1)).squeeze(-1), k @ experts.R[rows]
        if not is_joint:
            found.append((mu, v0.unsqueeze(-2) - (kR * k).sum(-1)))
            continue
        C = prior.unsqueeze(-3) - kR @ k.mT
        if len(shards.y) == 1:
            return mu.squeeze(-2), to_linear_operator(C.squeeze(-3))
        v = C.diagonal(dim1=-2, dim2=-1)
        weight = entropy_weights(v, v0).mean(-1)[..., None, None]
        together, total = together + (weight * correlation(C)).sum(-3), total + weight.sum(-3)
        found.append((mu, v))
    mu, v = (torch.cat(part, -2) for part in zip(*found, strict=True))
    mean, variance = Prediction(mu[..., 0, :], v[..., 0, :]) if len(shards.y) == 1 else COMBINE[combine](mu, v, v0)
    if not is_joint:
        return mean, DiagLinearOperator(variance)
    sd = variance.sqrt()
    return mean, to_linear_operator(sd.unsqueeze(-1) * together / total * sd.unsqueeze(-2))


def _blocks(X: Tensor, shards: Shards) -> Iterator[slice]:
    E, n = shards.y.shape
    size = max(1, BLOCK // (X[..., 0].numel() * (n + min(X.shape[-2], JOINT))))
    return (slice(start, start + size) for start in range(0, E, size))
