"""Predictions of a committee at several points.

Means and variances are combined by the rule. A rule says nothing of covariances: the correlations of the prediction are
the mean of those of the experts, each by how much it knows, which is a correlation matrix again. Of more than `JOINT`
points only the variances are given, as if they were independent, and no derivatives.
"""

from collections.abc import Iterator
from functools import partial, reduce

import torch
from gpytorch.kernels import Kernel
from linear_operator import LinearOperator, to_linear_operator
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.aggregation import (
    LEAST,
    ExpertPrediction,
    Experts,
    Rule,
    Sums,
    correlation,
    entropy_weights,
)
from robustbo.numerics.committee.errors import Pairs
from robustbo.numerics.committee.errors import correlation as error_correlation
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import Shards

JOINT = 512  # points whose covariance is joint; of more only the variances are given
PRIOR = 1e-6  # weight of the prior's correlations beside those of the experts, where these know nothing


def predict(
    kernel: Kernel, X: Tensor, shards: Shards, experts: Experts, shared: SharedHyperparameters, rule: Rule, pairs: Pairs
) -> tuple[Tensor, LinearOperator]:
    """Mean (less the prior's) and covariance of the latent values at ``... x q x d`` transformed points.

    Args:
        kernel: Of the latent values.
        X: Where.
        shards: The observations.
        experts: What they predict from; one alone predicts as it does.
        shared: What they share; the kernel is the same.
        rule: One of `aggregation.COMBINE`.
        pairs: As `errors.correlation` takes them.

    Raises:
        ValueError: If derivatives are wanted at more than `JOINT` points.
    """
    if X.shape[-2] > JOINT and len(shards.y) > 1:
        if X.requires_grad:
            raise ValueError(f"derivatives are available at up to {JOINT} points at once, got {X.shape[-2]}")
        apart = _predict_apart(X.flatten(0, -2), shards, experts, shared, rule, pairs)
        mean, variance = (x.view(X.shape[:-1]) for x in apart)
        return mean, DiagLinearOperator(variance)
    prior = kernel(X).to_dense()
    v0 = prior.diagonal(dim1=-2, dim2=-1)
    together, total, sums = PRIOR * correlation(prior), prior.new_full((1, 1), PRIOR), list[Sums]()
    for k, part in _blocks(kernel, X, shards, experts):
        mu, explained = part.explain(k)
        C = prior.unsqueeze(-3) - explained
        if len(shards.y) == 1:
            return mu.squeeze(-2), to_linear_operator(C.squeeze(-3))
        v = C.diagonal(dim1=-2, dim2=-1).maximum(LEAST * v0.unsqueeze(-2))
        weight = entropy_weights(v, v0).mean(-1)[..., None, None]
        together, total = together + (weight * correlation(C)).sum(-3), total + weight.sum(-3)
        sums.append(rule.sums(mu, v, v0))
    rho: Tensor | float = 1.0
    if rule.is_correlated:
        places = X.flatten(0, -2)
        rho = error_correlation(places, shards, experts, shared.l, v0.flatten(), partial(_dense, kernel), pairs)
        rho = rho.view(v0.shape)
    mean, variance = rule.finish(reduce(Sums.plus, sums), v0, rho)
    sd = variance.sqrt()
    return mean, to_linear_operator(sd.unsqueeze(-1) * together / total * sd.unsqueeze(-2))


def _predict_apart(
    X: Tensor, shards: Shards, experts: Experts, shared: SharedHyperparameters, rule: Rule, pairs: Pairs
) -> ExpertPrediction:
    predictions = []
    for part in X.split(JOINT):
        v0, rho = shared.s2f.expand(len(part)), torch.ones_like(part[:, 0])
        if rule.is_correlated:
            rho = error_correlation(part, shards, experts, shared.l, v0, shared.covariance, pairs)
        predictions.append(rule.finish(evidence.sum_predictions(shards, experts, shared, part, rule), v0, rho))
    return ExpertPrediction(*(torch.cat(column) for column in zip(*predictions, strict=True)))


def _dense(kernel: Kernel, X: Tensor, Z: Tensor) -> Tensor:
    return kernel(X, Z).to_dense()


def _blocks(kernel: Kernel, X: Tensor, shards: Shards, experts: Experts) -> Iterator[tuple[Tensor, Experts]]:
    """Covariances of ``... x q x d`` points with an expert's observations, and the expert, some at a time."""
    E, n = shards.y.shape
    size = max(1, evidence.BLOCK // max(1, X[..., 0].numel() * (n + X.shape[-2])))
    for start in range(0, E, size):
        rows = slice(start, start + size)
        k = kernel(X.unsqueeze(-3), shards.X[rows]).to_dense() * shards.mask[rows].unsqueeze(-2)
        yield k, experts.part(rows)
