"""What a committee predicts at several points.

Means and variances are combined by the rule. A rule says nothing of covariances: the correlations of the prediction are
the mean of those of the experts, each by how much it knows, which is a correlation matrix again. Of more than `JOINT`
points only the variances are given, as if they were independent.
"""

from collections.abc import Iterator

import torch
from gpytorch.kernels import Kernel
from linear_operator import LinearOperator, to_linear_operator
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.numerics.committee import Experts
from robustbo.numerics.experts import COMBINE, correlation, entropy_weights
from robustbo.numerics.shards import Shards

JOINT = 512  # points whose covariance is joint; of more only the variances are given
BLOCK = 2**22  # numbers of a block of covariances: 32 MiB
LEAST = 1e-12  # of the prior's variance: no expert is surer
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
    if X.shape[-2] > JOINT:
        parts = [predict(kernel, part, shards, experts, combine) for part in X.split(JOINT, -2)]
        variance = torch.cat([covariance.diagonal(dim1=-2, dim2=-1) for _, covariance in parts], -1)
        return torch.cat([mean for mean, _ in parts], -1), DiagLinearOperator(variance)
    prior = kernel(X).to_dense()
    v0 = prior.diagonal(dim1=-2, dim2=-1)
    together, total, found = PRIOR * correlation(prior), prior.new_full((1, 1), PRIOR), []
    for rows in _blocks(X, shards):
        k = kernel(X.unsqueeze(-3), shards.X[rows]).to_dense() * shards.mask[rows].unsqueeze(-2)
        mu, kR = (k @ experts.a[rows].unsqueeze(-1)).squeeze(-1), k @ experts.R[rows]
        C = prior.unsqueeze(-3) - kR @ k.mT
        if len(shards.y) == 1:
            return mu.squeeze(-2), to_linear_operator(C.squeeze(-3))
        v = C.diagonal(dim1=-2, dim2=-1).maximum(LEAST * v0.unsqueeze(-2))
        weight = entropy_weights(v, v0).mean(-1)[..., None, None]
        together, total = together + (weight * correlation(C)).sum(-3), total + weight.sum(-3)
        found.append((mu, v))
    mu, v = (torch.cat(part, -2) for part in zip(*found, strict=True))
    mean, variance = COMBINE[combine](mu, v, v0)
    sd = variance.sqrt()
    return mean, to_linear_operator(sd.unsqueeze(-1) * together / total * sd.unsqueeze(-2))


def _blocks(X: Tensor, shards: Shards) -> Iterator[slice]:
    E, n = shards.y.shape
    size = max(1, BLOCK // max(1, X[..., 0].numel() * (n + X.shape[-2])))
    return (slice(start, start + size) for start in range(0, E, size))
