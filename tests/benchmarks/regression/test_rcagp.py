"""RCaGP against the dense process of its weights, its evidence, and what a fit must gain."""

import math

import numpy as np
import pytest
import torch


@pytest.fixture(scope="module")
def rcagp(load):
    return load("regression.rcagp")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)
    y[[3, 17]] += 6.0
    return torch.from_numpy(X), torch.from_numpy(y - np.median(y))


def dense(process):
    """Covariance, noise and targets of the process that looks at all values, with the noise variance it begins with."""
    s2, w2 = 0.1, 1 / (1 + (process._y / process._y.abs().quantile(0.8)).square())
    y = process._y.clone().requires_grad_()
    (slope,) = torch.autograd.grad((1 / (1 + (y / process._y.abs().quantile(0.8)).square())).log().sum(), y)
    K = process._covariance(process._X, process._X).detach()
    return K, s2**2 / (2 * w2), process._y - s2 * slope, s2, w2


def test_with_an_action_for_each_value_it_is_the_weighted_process(rcagp, data, monkeypatch):
    monkeypatch.setattr(rcagp, "ROWS_AN_ACTION", 1)
    process = rcagp.RCaGP(*data)
    K, N, z, s2, _ = dense(process)
    points = torch.tensor([[0.2, 0.1], [-1.0, 2.0]], dtype=torch.float64)
    k = process._covariance(points, process._X).detach()
    mean, variance = process.predict(points)
    A = K + torch.diag(N)
    torch.testing.assert_close(mean, k @ torch.linalg.solve(A, z))
    torch.testing.assert_close(variance, 1 - (k * torch.linalg.solve(A, k.mT).mT).sum(-1) + s2)


def test_the_bound_is_the_evidence_of_the_loss_where_all_is_seen_and_lower_elsewhere(rcagp, data, monkeypatch):
    monkeypatch.setattr(rcagp, "ROWS_AN_ACTION", 1)
    process = rcagp.RCaGP(*data)
    K, N, z, s2, w2 = dense(process)
    y = process._y
    rest = w2 / s2**2 * (y.square() - z.square()) - 2 / s2 * (y * ((z - y) * -w2 / s2) + w2)  # the loss without f
    evidence = torch.distributions.MultivariateNormal(torch.zeros_like(z), K + torch.diag(N)).log_prob(z)
    evidence = evidence + 0.5 * (2 * math.pi * N).log().sum() - rest.sum()
    torch.testing.assert_close(process.bound().detach(), evidence, rtol=1e-6, atol=1e-4)
    monkeypatch.setattr(rcagp, "ROWS_AN_ACTION", 4)
    assert rcagp.RCaGP(*data).bound() < evidence


def test_a_fit_climbs_the_bound_and_predicts_without_the_wrong_values(rcagp, data):
    X, y = data
    process = rcagp.RCaGP(X, y)
    before = process.bound().item()
    process.fit()
    assert process.bound().item() > before + 100
    points = torch.linspace(-1, 1, 5, dtype=torch.float64)
    mean, _ = process.predict(torch.stack([points, torch.zeros(5, dtype=torch.float64)], -1))
    assert (mean - mean.mean() - points.sin()).abs().max() < 0.5
