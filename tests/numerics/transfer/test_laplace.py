"""Laplace's approximation of the evidence: exact for priors alone, and near quadrature."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import maximize_alone
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal, Normal
from robustbo.numerics.transfer.laplace import draw_hyperparameters, log_evidence


def model_of(y, prior, bounds=(-30.0, 30.0)):
    """Observations of independent noise whose variance is exp(theta), the mean being their mean."""
    n = len(y)

    def at(theta):
        s2 = theta.exp()
        eye = torch.eye(n, dtype=torch.float64)
        slope = prior.slope(theta[0].item())
        return Covariance(
            s2 * eye,
            prior.log_density(theta[0].item()),
            lambda G: (s2 * G.diagonal().sum() + slope).reshape(1),
            lambda w: (s2 * w).reshape(1, -1),
        )

    start = torch.tensor([0.0], dtype=torch.float64)
    precision = torch.tensor([prior.precision], dtype=torch.float64)
    function = CovarianceFunction(at, (start,), [bounds], precision, (prior,))
    return Model(torch.as_tensor(y, dtype=torch.float64), function, LogNormal(0.0, 1.0), torch.zeros(n).double())


def integral(model, prior, low=-30.0, high=30.0):
    """Log of the integral over theta: a log-normal prior is a density of exp(theta)."""
    is_log = isinstance(prior, LogNormal)

    def height(x):
        theta = torch.tensor([x], dtype=torch.float64)
        return log_posterior(model, theta, torch.zeros_like(model.y)).F + (x if is_log else 0.0)

    top = max(height(x) for x in np.linspace(max(low, -8), min(high, 8), 200))
    value, _ = quad(lambda x: math.exp(height(x) - top), max(low, -12), min(high, 12), limit=300)
    return top + math.log(value)


@pytest.mark.parametrize("prior", [LogNormal(0.5, 0.6), Normal(-0.2, 0.5)], ids=str)
def test_it_is_near_the_integral(prior):
    y = np.random.default_rng(0).normal(size=30)
    model = model_of(y, prior)
    fit = maximize_alone(model, model.starts[0])
    value = log_posterior(model, fit.theta, fit.rho)
    assert log_evidence(model, value) == pytest.approx(integral(model, prior), abs=0.03)


def test_of_a_log_normal_prior_alone_it_is_exact():
    prior, none = LogNormal(0.7, 1.3), torch.zeros(0, dtype=torch.float64)
    mode = torch.tensor([prior.log_mode], dtype=torch.float64)
    empty = Covariance(
        torch.eye(1).double(), prior.log_density(prior.log_mode), lambda G: torch.zeros(1).double(), None
    )
    flat = empty._replace(tangents=lambda w: torch.zeros(1, len(w)).double())
    function = CovarianceFunction(
        lambda theta: flat, (mode,), [(-30.0, 30.0)], torch.tensor([prior.precision]), (prior,)
    )
    model = Model(torch.zeros(1).double(), function, prior, torch.zeros(1).double())
    value = log_posterior(model, mode, torch.zeros(1).double())
    constant = -0.5 * math.log(2 * math.pi)  # of the observation, whose density does not depend on theta
    assert log_evidence(model, value) == pytest.approx(constant, abs=1e-12)
    assert not none.numel()


def test_a_coordinate_at_its_bound_is_integrated_over_the_side_that_is_left():
    y, prior = np.random.default_rng(0).normal(size=40), Normal(0.0, 1.0)
    model = model_of(y, prior, (0.6, 30.0))
    fit = maximize_alone(model, model.starts[0])
    assert fit.theta.item() == pytest.approx(0.6)
    value = log_posterior(model, fit.theta, fit.rho)
    assert log_evidence(model, value) == pytest.approx(integral(model, prior, low=0.6), abs=0.1)


@pytest.mark.parametrize("prior", [LogNormal(0.5, 0.6), Normal(-0.2, 0.5)], ids=str)
def test_draws_have_the_moments_of_the_posterior(prior):
    model = model_of(np.random.default_rng(1).normal(size=12), prior)
    fit = maximize_alone(model, model.starts[0])
    value = log_posterior(model, fit.theta, fit.rho)
    draws = draw_hyperparameters(model, value, fit.rho, 400)
    w, theta = np.array([w for w, _ in draws]), np.array([at.item() for _, at in draws])
    assert w.sum() == pytest.approx(1)
    grid = np.linspace(-4, 4, 2001)
    is_log = isinstance(prior, LogNormal)
    heights = [log_posterior(model, torch.tensor([x]).double(), fit.rho).F + x * is_log for x in grid]
    p = np.exp(np.array(heights) - max(heights))
    p /= p.sum()
    mean = p @ grid
    assert w @ theta == pytest.approx(mean, abs=0.02)
    assert w @ (theta - w @ theta) ** 2 == pytest.approx(p @ (grid - mean) ** 2, rel=0.15)


def test_a_draw_stays_within_bounds_and_at_one_that_holds_it():
    prior = Normal(0.0, 1.0)
    held = model_of(np.random.default_rng(0).normal(size=40), prior, (0.6, 30.0))
    fit = maximize_alone(held, held.starts[0])
    draws = draw_hyperparameters(held, log_posterior(held, fit.theta, fit.rho), fit.rho, 8)
    assert {at.item() for _, at in draws} == {fit.theta.item()}
    y = np.random.default_rng(0).normal(size=8)
    free = model_of(y, prior)
    mode = maximize_alone(free, free.starts[0]).theta.item()
    low, high = mode - 0.3, mode + 0.3
    near = model_of(y, prior, (low, high))
    fit = maximize_alone(near, near.starts[0])
    draws = draw_hyperparameters(near, log_posterior(near, fit.theta, fit.rho), fit.rho, 64)
    assert 8 < len(draws) < 64
    assert all(low <= at.item() <= high for _, at in draws)
