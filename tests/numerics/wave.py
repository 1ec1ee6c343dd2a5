"""A wave of two inputs with one value off: what the tests of searches fit."""

import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal

PRIOR = LogNormal(0.5, 1.5)
NOISE = LogNormal(-4.0, 1.0)


def wave(n, known, outlier):
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(n, 2, generator=generator)
    y = torch.sin(5 * X[:, 0]) + 0.1 * torch.randn(n, generator=generator)
    y[n // 2] += outlier
    covariance = stationary(X, "matern52", PRIOR, PRIOR)
    return Model(y, covariance, NOISE, torch.full((n,), 0.01) if known else None)
