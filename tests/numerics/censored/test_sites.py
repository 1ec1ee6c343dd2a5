import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from robustbo.numerics.censored.sites import (
    Bounds,
    highest_log_probability,
    log_probability_of_stuck_sensor,
    log_probability_of_values,
    pseudo_values,
    without_sites,
)

X = np.array([0.0, 0.3, 0.5, 1.1])
C = np.exp(-0.5 * (X[:, None] - X) ** 2) + 1e-6 * np.eye(4)
M = np.array([0.4, 0.1, -0.3, 0.2])


def bounds_of(c, s, sd, eps=0.0, W=0.5):
    k = len(c)
    log_b = np.full(k, math.log(eps * W) if eps else -math.inf)
    return Bounds(np.array(c, float), np.array(s, float), np.full(k, float(sd)), log_b, np.full(k, eps))


def posterior(m, C, told):
    """Mean and covariance of the latent values given normal observations."""
    P = np.linalg.inv(C + np.diag(told.variance))
    return m + C @ P @ (told.y - m), C - C @ P @ C


def sampled(m, C, bounds, num=400_000):
    """Mean and covariance by importance sampling, and the log probability of all bounds."""
    f = np.random.default_rng(0).multivariate_normal(m, C, size=num)
    kept = stats.norm.cdf(bounds.s * (bounds.c - f) / bounds.sd)
    w = np.prod(np.exp(bounds.log_b) + (1 - bounds.eps) * kept, axis=1)
    mean = w @ f / w.sum()
    return mean, ((f - mean).T * w) @ (f - mean) / w.sum(), math.log(w.mean())


@pytest.mark.few(6)
@pytest.mark.parametrize("eps", [0.0, 0.1])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("c", [-2.0, -1.2, 0.0, 1.5, 2.0])
def test_one_bound_has_the_moments_of_a_quadrature(c, side, eps):
    m, v, sd = 0.3, 0.8, 0.2
    told = pseudo_values(np.array([m]), np.array([[v]]), bounds_of([c], [side], sd, eps))

    def density(f, power):
        p = 0.5 * eps + (1 - eps) * stats.norm.cdf(side * (c - f) / sd)
        return f**power * p * stats.norm.pdf(f, m, math.sqrt(v))

    Z, first, second = (integrate.quad(density, -8, 8, args=(k,), limit=200)[0] for k in (0, 1, 2))
    mean, covariance = posterior(np.array([m]), np.array([[v]]), told)
    assert_allclose(told.L, math.log(Z), rtol=1e-5)
    assert_allclose(told.wrong, 0.5 * eps / Z, rtol=1e-5)
    assert_allclose([told.mean[0], told.sd[0]], [m, math.sqrt(v)], rtol=1e-5)
    assert_allclose(mean, first / Z, rtol=1e-3, atol=1e-3)
    variance = second / Z - (first / Z) ** 2
    if variance < v:
        assert_allclose(covariance[0, 0], variance, rtol=2e-3)
    else:  # which no normal observation makes
        assert 0.4 * variance < covariance[0, 0] < v


@pytest.mark.few(3)
@pytest.mark.parametrize("eps", [0.0, 0.1])
@pytest.mark.parametrize("sides", [(1, 1, 1, 1), (1, -1, 1, -1), (-1, -1, 1, 1)])
def test_several_bounds_agree_with_a_long_sampling(sides, eps):
    bounds = bounds_of([0.2, 0.0, 0.3, -0.1], sides, 0.3, eps)
    told = pseudo_values(M, C, bounds)
    (mean, covariance), (m, S, L) = posterior(M, C, told), sampled(M, C, bounds)
    assert_allclose(mean, m, atol=0.03)
    assert_allclose(np.sqrt(covariance.diagonal()), np.sqrt(S.diagonal()), atol=0.05)
    assert_allclose(told.L, L, atol=0.03)


def test_several_bounds_that_may_be_wrong_move_the_means_as_far_as_they_should_where_they_are_contradicted():
    bounds = bounds_of(M - 1.4 * np.array([1.0, 0.2, -1.0, 1.0]), (1, 1, 1, 1), 0.3, 0.1)
    told = pseudo_values(M, C, bounds)
    (mean, _), (m, _, L) = posterior(M, C, told), sampled(M, C, bounds)
    assert np.abs(m - M).max() > 1.5
    assert_allclose(mean, m, atol=0.06)
    assert_allclose(told.L, L, atol=0.03)


@pytest.mark.parametrize("c", np.linspace(-5, 5, 11))
def test_no_pseudo_value_of_a_bound_that_may_be_wrong_is_far_from_what_is_predicted(c):
    told = pseudo_values(np.zeros(1), np.eye(1), bounds_of([c], [1], 0.2, 0.1))
    assert abs(told.y[0]) / math.sqrt(told.variance[0] + 1) < 3.0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_decide_nothing(scale):
    bounds = bounds_of([0.2, 0.0, 0.3, -0.1], (1, -1, 1, 1), 0.3, 0.1)
    told = pseudo_values(M, C, bounds)
    wide = pseudo_values(scale * M + 7, scale**2 * C, bounds._replace(c=scale * bounds.c + 7, sd=scale * bounds.sd))
    assert_allclose((wide.y - 7) / scale, told.y, rtol=1e-5, atol=1e-5)
    assert_allclose(wide.wrong, told.wrong, rtol=1e-5)
    assert_allclose(wide.L, told.L, rtol=1e-5)


def test_a_bound_that_says_nothing_is_vague_and_one_that_is_contradicted_is_wrong():
    told = pseudo_values(np.array([0.0, 30.0]), np.eye(2), bounds_of([9.0, 0.0], [1, 1], 0.1, 0.1))
    mean, covariance = posterior(np.array([0.0, 30.0]), np.eye(2), told)
    assert_allclose(mean, [0.0, 30.0], atol=1e-3)
    assert_allclose(covariance.diagonal(), 1, rtol=1e-3)
    assert told.wrong[0] < 0.06 < 0.99 < told.wrong[1]
    assert told.evidence[0] < 1e-6 < 100 < told.evidence[1]


def test_what_the_values_alone_predict_comes_back():
    told = pseudo_values(M, C, bounds_of([0.2, 0.0, 0.3, -0.1], (1, -1, 1, 1), 0.05))
    mean, covariance = without_sites(*posterior(M, C, told), told.y, told.variance)
    assert_allclose(mean, M, atol=1e-6)
    assert_allclose(covariance, C, atol=1e-6)


def test_the_probabilities_of_a_heap():
    bounds = bounds_of([0.2, 0.0, 0.3, -0.1], (1, 1, 1, 1), 0.3)
    density = stats.multivariate_normal.logpdf(bounds.c, M, C + 0.09 * np.eye(4))
    assert_allclose(log_probability_of_values(M, C, bounds, 0.01), density + 4 * math.log(0.01), rtol=1e-9)
    rate = integrate.quad(lambda p: p**4 * (1 - p) ** 16, 0, 1)[0]
    assert_allclose(log_probability_of_stuck_sensor(4, 20), math.log(rate), rtol=1e-9)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sd", [0.5, 1e-4, 1e-6])
@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_bounds_far_from_what_is_expected_hold_the_values_there(far, sd):
    m, C = np.zeros(3), np.array([[1.0, 0.6, 0.6], [0.6, 1.0, 1.0], [0.6, 1.0, 1.0]])  # two of them at one point
    bounds = bounds_of([far] * 3, [-1] * 3, sd)
    told = pseudo_values(m, C, bounds)
    assert_allclose(told.y, far, rtol=1e-4)
    if sd == 0.5:  # then the bounds are as good as measurements of themselves
        assert_allclose(told.variance, sd**2, rtol=1e-4)
        assert told.L < highest_log_probability(m, C, bounds) < -0.3 * far**2
