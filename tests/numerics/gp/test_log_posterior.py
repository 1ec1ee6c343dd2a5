import math

import pytest
import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import gradient, information, log_posterior
from robustbo.numerics.gp.model import Model, noise
from robustbo.numerics.gp.parameters import LogNormal

PRIOR = LogNormal(0.5, 1.5)
NOISE = LogNormal(-4.0, 1.0)


def prior_covariance(given, theta):
    """The covariance of the observations without added variances."""
    return given.covariance.at(theta[: len(given.covariance.bounds)]).K + torch.diag(noise(given, theta))


def model(n=12, known=False):
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(n, 2, generator=generator)
    y = torch.sin(5 * X[:, 0]) + 0.1 * torch.randn(n, generator=generator)
    y[3] += 4.0
    covariance = stationary(X, "matern52", PRIOR, PRIOR)
    return Model(y, covariance, NOISE, torch.full((n,), 0.01) if known else None)


@pytest.mark.parametrize("known", [False, True])
def test_the_gradient_agrees_with_differences(known):
    given = model(known=known)
    theta, rho, step = given.starts[0] + 0.2, torch.linspace(0, 2, 12), 1e-6
    for slopes, at in zip(gradient(given, log_posterior(given, theta, rho)), (0, 1), strict=True):
        for i in range(len(slopes)):
            moved = [[x.clone() for x in (theta, rho)] for _ in range(2)]
            moved[0][at][i] += step
            moved[1][at][i] -= step
            up, down = (log_posterior(given, *point).F for point in moved)
            assert slopes[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
def test_the_information_is_the_mean_of_observed_and_expected(known):
    """By dense derivatives of the covariance, and the definition of Gilmour and others."""
    given, support = model(known=known), torch.tensor([3, 7])
    theta, rho, step = given.starts[0] + 0.2, torch.linspace(0, 2, 12), 1e-6
    slope = torch.tensor([1.0, 2.5])
    value = log_posterior(given, theta, rho)
    V = [
        (prior_covariance(given, theta + step * unit) - prior_covariance(given, theta - step * unit)) / (2 * step)
        for unit in torch.eye(len(theta))
    ]
    V += [torch.diag(s * torch.nn.functional.one_hot(i, 12).double()) for i, s in zip(support, slope, strict=True)]
    P, al, one = value.evidence.P, value.evidence.al, torch.ones(12)
    Pm = P - P @ torch.outer(one, one) @ P / (one @ P @ one)
    dense = torch.tensor([[0.5 * (al @ a @ Pm @ b @ al).item() for b in V] for a in V])
    torch.testing.assert_close(information(given, value, support, slope), dense, rtol=1e-6, atol=1e-6)


def test_the_information_in_the_logarithm_of_a_lone_variance_is_exact():
    """L = -(t + q exp(-t)) / 2, so minus its second derivative is q exp(-t) / 2: here far from all other points."""
    X = torch.tensor([[0.0], [0.01], [1e3]])
    y = torch.tensor([0.0, 0.0, 50.0])
    given = Model(y, stationary(X, "rbf", PRIOR, PRIOR), NOISE)
    theta, t = given.starts[0], 3.0
    v = prior_covariance(given, theta)[2, 2].item()
    value = log_posterior(given, theta, torch.tensor([0.0, 0.0, v * math.expm1(t)]))
    r = (y[2] - value.evidence.m).item()
    found = information(given, value, torch.tensor([2]), torch.tensor([v * math.exp(t)]))[-1, -1].item()
    weight = value.evidence.P1[2] / value.evidence.P1.sum()  # what the mean owes to this very point
    assert found == pytest.approx(r**2 / v * math.exp(-t) / 2 * (1 - weight.item()), rel=1e-6)


def test_an_indefinite_covariance_has_no_density():
    X = torch.zeros(3, 1)
    given = Model(torch.ones(3), stationary(X, "rbf", PRIOR, PRIOR), NOISE)
    assert -math.inf == log_posterior(given, given.starts[0], torch.tensor([0.0, 0.0, -50.0])).F
