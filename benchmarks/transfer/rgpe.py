"""A ranking-weighted ensemble of processes, one a task, as a baseline: the target's and one a source.

References:
    Feurer, Letham and Bakshy (2018), Scalable meta-learning for Bayesian optimization using ranking-weighted Gaussian
    process ensembles, written anew from the paper.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

NUM_SAMPLES = 256
DILUTION = 0.95  # quantile of the target's losses above which the median of a source's has no weight


def fit_process(X: Tensor, y: Tensor) -> SingleTaskGP:
    """BoTorch's default process of standardized values."""
    z = (y - y.mean()) / y.std().clamp_min(1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleTaskGP(X, z.unsqueeze(-1), outcome_transform=None)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model.eval()


def _moments(model: Any, X: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        posterior = model.posterior(X)
        return posterior.mean.squeeze(-1), posterior.variance.squeeze(-1)


def _leave_one_out(model: Any) -> tuple[Tensor, Tensor]:
    """Means and variances of each value by all others, hyperparameters held."""
    X, y = model.train_inputs[0], model.train_targets
    with torch.no_grad():
        K = model.covar_module(X).to_dense() + model.likelihood.noise * torch.eye(len(y), dtype=y.dtype)
        P = torch.linalg.inv(K)
        return y - (P @ (y - model.mean_module(X))) / P.diagonal(), 1 / P.diagonal()


def _ranking_losses(samples: Tensor, y: Tensor) -> Tensor:
    """``s`` numbers of pairs that each of ``s x n`` samples ranks wrongly."""
    predicted = samples.unsqueeze(-1) < samples.unsqueeze(-2)
    return (predicted != (y.unsqueeze(-1) < y)).sum((-2, -1))


def predict(
    target: tuple[Tensor, Tensor], sources: Sequence[tuple[Tensor, Tensor]], X: Tensor, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Predictions at ``q x d`` points: means, standard deviations, that of the target's noise, and weights.

    The last weight is the target's.

    Args:
        target: Inputs and values of the target.
        sources: Inputs and values of each source.
        X: The points.
        seed: Of the samples.
    """
    (Z, y), generator = target, torch.Generator().manual_seed(seed)
    models = [fit_process(*source) for source in sources] + [fit_process(Z, y)]
    at_target = [_moments(model, Z) for model in models[:-1]] + [_leave_one_out(models[-1])]
    draws = [torch.randn(NUM_SAMPLES, len(y), dtype=y.dtype, generator=generator) for _ in models]
    samples = [mean + variance.sqrt() * z for (mean, variance), z in zip(at_target, draws, strict=True)]
    losses = torch.stack([_ranking_losses(sample, y) for sample in samples]).double()
    bound = losses[-1].quantile(DILUTION)
    losses[:-1][losses[:-1].median(-1).values > bound] = torch.inf
    best = (losses == losses.min(0).values).double()
    weights = (best / best.sum(0)).mean(-1)
    moments = [_moments(model, X) for model in models]
    mean = sum((w * m for w, (m, _) in zip(weights, moments, strict=True)), torch.zeros(len(X), dtype=y.dtype))
    variance = sum((w**2 * v for w, (_, v) in zip(weights, moments, strict=True)), torch.zeros(len(X), dtype=y.dtype))
    scale = y.std().clamp_min(1e-9)
    noise_sd = float(scale * models[-1].likelihood.noise.detach().sqrt())
    return (y.mean() + scale * mean).numpy(), (scale * variance.sqrt()).numpy(), noise_sd, weights.numpy()
