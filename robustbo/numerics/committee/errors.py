"""Correlation of the errors of experts: all of them interpolate one function.

An expert's mean is k'c; it errs by f - k'c, and two experts' errors share all of f that neither of them has seen. Of
very many experts a panel of few is compared.

Notation (``p`` experts at ``m`` points), beside that of `aggregation`:
    c_i   n  weights of the i-th expert's observations, J^-1 D(W) k
    K_ij     prior covariances of the observations of the i-th expert and the j-th
    C_ij     covariance of the errors of the i-th expert and the j-th

References:
    docs/equations.md section 9.
"""

from collections.abc import Callable, Mapping
from itertools import combinations

import torch
from torch import Tensor

from robustbo.numerics.committee.aggregation import LEAST, Experts, entropy_weights
from robustbo.numerics.committee.partition import Shards

PANEL = 4  # experts that are compared at a point

Covariance = Callable[[Tensor, Tensor], Tensor]  # from a x d and b x d inputs to their a x b prior covariances
Pairs = Mapping[tuple[int, int], Tensor]  # K_ij by the numbers of two experts, the smaller first


def first_pairs(shards: Shards, covariance: Covariance) -> Pairs:
    """The covariances of the first experts' observations; where these were dealt at random, they stand for all."""
    numbers = combinations(range(min(PANEL, len(shards.y))), 2)
    return {(i, j): covariance(shards.X[i], shards.X[j]) for i, j in numbers}


def nearest_experts(X: Tensor, shards: Shards, l: Tensor) -> Tensor:
    """``m x p`` experts, ascending, about whose observations the narrowest boxes lie nearest to ``m x d`` inputs."""
    is_padding = (shards.mask == 0).unsqueeze(-1)
    low = shards.X.masked_fill(is_padding, torch.inf).amin(-2)
    high = shards.X.masked_fill(is_padding, -torch.inf).amax(-2)
    beyond = (low - X.unsqueeze(-2)).maximum(X.unsqueeze(-2) - high).clamp_min(0.0) / l
    order = beyond.detach().square().sum(-1).argsort(dim=-1, stable=True)
    return order[:, :PANEL].sort(-1).values


def correlation(
    X: Tensor, shards: Shards, experts: Experts, l: Tensor, v0: Tensor, covariance: Covariance, pairs: Pairs
) -> Tensor:
    """``m`` correlations of the experts' errors, 1 at most: the mean of a panel's, by how much they count.

    It is 1, the most cautious, where no two of the panel know anything of a point. O(n^2) a point and pair.

    Args:
        X: ``m x d`` inputs.
        shards: The observations.
        experts: The experts.
        l: ``d`` length-scales.
        v0: ``m`` prior variances.
        covariance: Of the latent values.
        pairs: `first_pairs`, to compare these experts everywhere; none to compare the nearest ones.
    """
    if not len(X):
        return torch.ones_like(v0)
    panel = torch.arange(min(PANEL, len(shards.y))).expand(len(X), -1) if pairs else nearest_experts(X, shards, l)
    c, explained = _interpolation(X, panel, shards, experts, covariance)
    v = (v0.unsqueeze(-1) - explained).maximum(LEAST * v0.unsqueeze(-1))
    counts = entropy_weights(v.mT, v0).mT / v.sqrt()  # w sqrt v, beyond a factor
    counts = counts / counts.detach().sum(-1, keepdim=True).clamp_min(torch.finfo(v.dtype).tiny)
    shared, total = torch.zeros_like(v0), torch.zeros_like(v0)
    for i, j in combinations(range(panel.shape[-1]), 2):
        cross = _cross(c[:, i], c[:, j], panel[:, [i, j]], shards, covariance, pairs)
        C = v0 - explained[:, i] - explained[:, j] + cross  # eq. 9.6
        both = counts[:, i] * counts[:, j]
        shared, total = shared + both * C / (v[:, i] * v[:, j]).sqrt(), total + both
    is_unknown = total <= 0
    rho = shared / total.masked_fill(is_unknown, 1.0)  # eq. 9.7
    return rho.masked_fill(is_unknown, 1.0).clamp_max(1.0)


def _interpolation(
    X: Tensor, panel: Tensor, shards: Shards, experts: Experts, covariance: Covariance
) -> tuple[Tensor, Tensor]:
    """``m x p x n`` weights c, and ``m x p`` values of k'c, one expert after the other."""
    places, weights, explained = [], [], []
    for i in panel.unique().tolist():
        place = (panel == i).flatten().nonzero().squeeze(-1)
        k = covariance(X[place // panel.shape[-1]], shards.X[i]) * shards.mask[i]
        c = experts.part(slice(i, i + 1)).interpolation_weights(k.unsqueeze(0)).squeeze(0).mT
        places.append(place)
        weights.append(c)
        explained.append((k * c).sum(-1))
    order = torch.cat(places).argsort()
    c, kc = torch.cat(weights)[order], torch.cat(explained)[order]
    return c.unflatten(0, panel.shape), kc.unflatten(0, panel.shape)


def _cross(c_i: Tensor, c_j: Tensor, numbers: Tensor, shards: Shards, covariance: Covariance, pairs: Pairs) -> Tensor:
    """``m`` values of c_i'K_ij c_j, of ``m x n`` weights and ``m x 2`` experts' numbers, one pair after the other."""
    places, products = [], []
    for pair in numbers.unique(dim=0):
        place = (numbers == pair).all(-1).nonzero().squeeze(-1)
        i, j = pair.tolist()
        K = pairs[i, j] if pairs else covariance(shards.X[i], shards.X[j])
        products.append(((c_i[place] @ K) * c_j[place]).sum(-1))
        places.append(place)
    return torch.cat(products)[torch.cat(places).argsort()]
